//! Edits of modules.

/// One edit of a module. Ids are the numbers of values in text: `N5`, `%5`, or the position in mic@2.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    /// Inserts an op.
    Insert {
        /// The op.
        statement: NewStatement,
        /// Its position.
        place: Place,
    },
    /// Deletes an op; it is an error if the op has users after the last edit.
    Delete {
        /// The id of one of its results.
        id: u64,
        /// The id of the value that replaces this result.
        instead: Option<u64>,
    },
    /// Replaces the op that defines a value; the value keeps its id and its users.
    Replace {
        /// The id of the value.
        id: u64,
        /// The new op; its own id is ignored.
        statement: NewStatement,
    },
    /// Sets an attribute.
    SetAttribute {
        /// The id of one of the op's results.
        id: u64,
        /// The attribute's name.
        name: String,
        /// The value as JSON.
        value: serde_json::Value,
    },
    /// Sets or removes the declared type of a value.
    SetType {
        /// The id of the value.
        id: u64,
        /// A type, for example `f32[3, B]`.
        ty: Option<String>,
    },
    /// Renames a value.
    Rename {
        /// The old id.
        id: u64,
        /// The new id, which must be free.
        to: u64,
    },
    /// Sets the outputs of the module.
    SetOutputs(Vec<u64>),
}

/// A new op.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewStatement {
    /// The id of its result; by default the next free one.
    pub id: Option<u64>,
    /// Its name in the spelling of any format.
    pub op: String,
    /// The ids of its operands.
    pub operands: Vec<u64>,
    /// Its attributes by name; omitted attributes have their defaults.
    pub attributes: Vec<(String, serde_json::Value)>,
    /// The type of its result, if it has to be declared or should be checked.
    pub ty: Option<String>,
    /// Its body, if it has one.
    pub body: Option<NewBody>,
}

/// The body of a new op. Its ids must be free in the whole module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewBody {
    /// The ids of its arguments, one for each operand of the op.
    pub arguments: Vec<u64>,
    /// Its ops.
    pub statements: Vec<NewStatement>,
    /// The ids of the values it yields.
    pub outputs: Vec<u64>,
}

/// Position of a new op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Before the op that defines this id.
    Before(u64),
    /// After the op that defines this id.
    After(u64),
    /// After all ops of the module.
    End,
}

impl Edit {
    /// Describes the edit briefly, for messages.
    pub fn describe(&self) -> String {
        match self {
            Edit::Insert { statement, .. } => format!("insert `{}`", statement.op),
            Edit::Delete { id, .. } => format!("delete {id}"),
            Edit::Replace { id, .. } => format!("replace {id}"),
            Edit::SetAttribute { id, name, .. } => format!("set `{name}` of {id}"),
            Edit::SetType { id, .. } => format!("set the type of {id}"),
            Edit::Rename { id, to } => format!("rename {id} to {to}"),
            Edit::SetOutputs(_) => "set the outputs".to_owned(),
        }
    }
}
