//! The `ops!` macro.

/// Declares ops: a typed view and a table entry for each, and `OPS`, the list of entries.
///
/// ```text
/// ops! {
///     /// One sentence.
///     ///
///     /// Shapes: ...
///     /// Errors: ...
///     /// Source: ...
///     Sum = "core.sum" {
///         operands: (input: Num),
///         variadic: (inputs: Any),             // optional: one or more after the operands
///         optional: (value: Any),              // optional: at most one after the operands
///         attrs: { axes: Ints = &[], keepdims "kd": Bool = false },
///         results: [values, places],           // optional: the names of several, or One, None, Many
///         regions: 1,                          // optional
///         arguments: f,                        // optional: fn(Sum, &Graph, usize) -> ArgumentsResult, where no trait says them
///         traits: [Pure],
///         names: { core: "Sum", mic1: "sum", mic2: "sum" },
///         infer: infer_sum,                    // fn(Sum, &Graph) -> InferResult
///         eval: eval_sum,                      // fn(Sum, &EvalCx, &[&Tensor]) -> Result<Tensor, EvalError>
///         scalar: Relu,                        // instead of infer and eval
///         scalar_of: of_word,                  // fn(Sum, &Graph) -> ScalarFn, where attributes choose one like `scalar`
///         infer_many: f, eval_many: f,         // instead, for ops with several results
///         fold: fold_sum,                      // fn(Sum, &Graph) -> Option<Folded>
///         core_v1: is_core,                    // fn(Sum, &Graph) -> bool
///     }
/// }
/// ```
/// The keys have this order; those that do not apply are left out. A string after an attribute's name is its key in
/// mic@1. An attribute without a default is required. Its kind is one of [`attr`](crate::attr), or a set of
/// [`words!`](crate::words) in scope.
#[macro_export]
macro_rules! ops {
    ($(
        $(#[doc = $doc:literal])*
        $view:ident = $name:literal {
            $(operands: ($($operand:ident: $class:ident),* $(,)?),)?
            $(variadic: ($variadic:ident: $vclass:ident),)?
            $(optional: ($optional:ident: $oclass:ident),)?
            $(attrs: { $($attr:ident $($key:literal)?: $kind:ident $(= $default:expr)?),* $(,)? },)?
            $(results: $results:ident,)?
            $(results: [$($result:ident),* $(,)?],)?
            $(regions: $regions:literal,)?
            $(arguments: $arguments:expr,)?
            traits: [$($trait:ident),* $(,)?],
            names: { $($format:ident: $text:literal),* $(,)? },
            $(infer: $infer:expr,)?
            $(infer_many: $infer_many:expr,)?
            $(eval: $eval:expr,)?
            $(eval_many: $eval_many:expr,)?
            $(scalar: $scalar:ident,)?
            $(scalar_of: $scalar_of:expr,)?
            $(fold: $fold:expr,)?
            $(core_v1: $core_v1:expr,)?
        }
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub struct $view($crate::OpId);

            impl $crate::opdef::Op for $view {
                const DEF: &'static $crate::opdef::OpDef = {
                    #[allow(unused_imports, reason = "a table without attributes")]
                    use $crate::attr::kinds::*;
                    #[allow(clippy::needless_update)]
                    static DEF: $crate::opdef::OpDef = $crate::opdef::OpDef {
                        name: $name,
                        doc: concat!($($doc, "\n"),*),
                        operands: &[$($($crate::opdef::Operand {
                            name: stringify!($operand),
                            class: $crate::opdef::OperandClass::$class,
                        }),*)?],
                        variadic: $crate::ops!(@option $($crate::opdef::Operand {
                            name: stringify!($variadic),
                            class: $crate::opdef::OperandClass::$vclass,
                        })?),
                        optional: $crate::ops!(@option $($crate::opdef::Operand {
                            name: stringify!($optional),
                            class: $crate::opdef::OperandClass::$oclass,
                        })?),
                        attrs: &[$($($crate::opdef::AttrDef {
                            name: stringify!($attr),
                            key: $crate::ops!(@option $($key)?),
                            kind: <$kind as $crate::attr::AttrType>::KIND,
                            default: $crate::ops!(@option $($kind::attr($default))?),
                        }),*)?],
                        results: $crate::ops!(@or [$($crate::opdef::Results::$results)?
                            $($crate::opdef::Results::Named(&[$(stringify!($result)),*]))?]
                            $crate::opdef::Results::One),
                        regions: $crate::ops!(@or [$($regions)?] 0),
                        arguments: $crate::ops!(@option $(|op, g, region| {
                            let hook: fn($view, &$crate::graph::Graph, usize) -> $crate::verify::ArgumentsResult
                                = $arguments;
                            hook($view(op), g, region)
                        })?),
                        traits: &[$($crate::opdef::Trait::$trait),*],
                        names: $crate::opdef::Names {
                            $($format: Some($text),)*
                            ..$crate::opdef::Names::NONE
                        },
                        infer: $crate::ops!(@option
                            $(|op, g| {
                                let hook: fn($view, &$crate::graph::Graph) -> $crate::verify::InferResult = $infer;
                                Ok($crate::smallvec::smallvec![hook($view(op), g)?])
                            })?
                            $(|op, g| {
                                let hook: fn($view, &$crate::graph::Graph) -> $crate::verify::InferManyResult
                                    = $infer_many;
                                hook($view(op), g)
                            })?
                            $($crate::scalar::infer_hook($crate::scalar::ScalarFn::$scalar))?
                        ),
                        eval: $crate::ops!(@option
                            $(|op, cx, operands| {
                                let hook: fn(
                                    $view, &$crate::eval::EvalCx<'_>, &[&$crate::tensor::Tensor],
                                ) -> Result<$crate::tensor::Tensor, $crate::eval::EvalError> = $eval;
                                Ok($crate::smallvec::smallvec![hook($view(op), cx, operands)?])
                            })?
                            $(|op, cx, operands| {
                                let hook: fn(
                                    $view, &$crate::eval::EvalCx<'_>, &[&$crate::tensor::Tensor],
                                ) -> $crate::eval::EvalManyResult = $eval_many;
                                hook($view(op), cx, operands)
                            })?
                            $($crate::ops!(@eval_of $scalar))?
                        ),
                        scalar: $crate::ops!(@option $($crate::scalar::ScalarFn::$scalar)?),
                        scalar_of: $crate::ops!(@option $(|op, g| {
                            let hook: fn($view, &$crate::graph::Graph) -> $crate::scalar::ScalarFn = $scalar_of;
                            hook($view(op), g)
                        })?),
                        fold: $crate::ops!(@option $(|op, g| {
                            let hook: fn($view, &$crate::graph::Graph) -> Option<$crate::opdef::Folded>
                                = $fold;
                            hook($view(op), g)
                        })?),
                        core_v1: $crate::ops!(@option $(|op, g| {
                            let hook: fn($view, &$crate::graph::Graph) -> bool = $core_v1;
                            hook($view(op), g)
                        })?),
                    };
                    &DEF
                };

                fn from_id(op: $crate::OpId) -> Self {
                    $view(op)
                }

                fn id(self) -> $crate::OpId {
                    self.0
                }
            }

            $crate::ops!(@accessors $view
                { $($($operand)*)? } { $($variadic)? } { $($optional)? } { $($($attr: $kind,)*)? }
                { $($results)? $([$($result)*])? $($regions)? $($($attr: $kind $(= $default)?,)*)? });
        )*

        /// The table entries, in order.
        pub const OPS: &[&$crate::opdef::OpDef] = &[$(<$view as $crate::opdef::Op>::DEF),*];
    };

    (@eval_of $scalar:ident) => { $crate::scalar::EVAL };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@or [] $default:expr) => { $default };
    (@or [$value:expr] $default:expr) => { $value };

    (@accessors $view:ident { $($operand:ident)* } { $($variadic:ident)? } { $($optional:ident)? }
        { $($attr:ident: $kind:ident,)* } $form:tt) => {
        #[allow(dead_code, reason = "accessors that nobody of a private table calls")]
        const _: () = {
            #[allow(unused_imports, reason = "a table without attributes")]
            use $crate::attr::kinds::*;

            #[allow(non_camel_case_types)]
            enum OperandIndex { $($operand,)* $($variadic,)? $($optional,)? }
            #[allow(non_camel_case_types)]
            enum AttrIndex { $($attr,)* }

            impl $view {
                $(
                    #[doc = concat!("Operand `", stringify!($operand), "`.")]
                    pub fn $operand(self, g: &$crate::graph::Graph) -> $crate::ValueId {
                        g.operands(self.0)[OperandIndex::$operand as usize]
                    }
                )*
                $(
                    #[doc = concat!("Operands `", stringify!($variadic), "`.")]
                    pub fn $variadic(self, g: &$crate::graph::Graph) -> &[$crate::ValueId] {
                        &g.operands(self.0)[OperandIndex::$variadic as usize..]
                    }
                )?
                $(
                    #[doc = concat!("Operand `", stringify!($optional), "`, if it is given.")]
                    pub fn $optional(self, g: &$crate::graph::Graph) -> Option<$crate::ValueId> {
                        g.operands(self.0).get(OperandIndex::$optional as usize).copied()
                    }
                )?
                $(
                    #[doc = concat!("Attribute `", stringify!($attr), "`.")]
                    pub fn $attr<'g>(
                        self,
                        g: &'g $crate::graph::Graph,
                    ) -> <$kind as $crate::attr::AttrType>::Value<'g> {
                        let attr = g.attr(self.0, AttrIndex::$attr as usize);
                        <$kind as $crate::attr::AttrType>::get(attr)
                    }
                )*

                /// Returns the values of all attributes, in the order of the table entry.
                #[allow(clippy::too_many_arguments)]
                pub fn attrs<'a>(
                    $($attr: <$kind as $crate::attr::AttrType>::Value<'a>,)*
                ) -> Vec<$crate::attr::Attr<'a>> {
                    vec![$(<$kind as $crate::attr::AttrType>::wrap($attr)),*]
                }

                /// Returns the result.
                ///
                /// # Panics
                ///
                /// If the op does not have exactly one result.
                pub fn result(self, g: &$crate::graph::Graph) -> $crate::ValueId {
                    g.result(self.0)
                }
            }

            $crate::op_constructor!($view ($($operand)* $([$variadic])? $(($optional))?) [] [] $form);
        };
    };
}
