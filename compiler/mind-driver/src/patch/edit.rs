//! What an edit says.

/// One change of a module. Ids are the numbers that values go by in text: `N5`, `%5`, or in mic@2 the position.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    /// A new op.
    Insert {
        /// What it is.
        statement: NewStatement,
        /// Where it goes.
        place: Place,
    },
    /// An op goes; whoever still reads it after all edits is an error.
    Delete {
        /// The id of a result.
        id: u64,
        /// What its readers read from now on.
        instead: Option<u64>,
    },
    /// Another op computes the value, which keeps its id and its readers.
    Replace {
        /// The id of the value.
        id: u64,
        /// What computes it; the id there is not read.
        statement: NewStatement,
    },
    /// An attribute has another value.
    SetAttribute {
        /// The id of a result.
        id: u64,
        /// The attribute's name.
        name: String,
        /// The value, as JSON says it.
        value: serde_json::Value,
    },
    /// The type written at a value is another one, or none.
    SetType {
        /// The id of the value.
        id: u64,
        /// A type as in `f32[3, B]`.
        ty: Option<String>,
    },
    /// A value goes by another id.
    Rename {
        /// The id it has.
        id: u64,
        /// The id it gets, which nothing else may have.
        to: u64,
    },
    /// The module's outputs are these.
    SetOutputs(Vec<u64>),
}

/// An op to be made.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewStatement {
    /// The id of its result; the next free one unless given.
    pub id: Option<u64>,
    /// Its name, in any format's spelling.
    pub op: String,
    /// The ids of what it reads.
    pub operands: Vec<u64>,
    /// Its attributes by name; those that are not given have their defaults.
    pub attributes: Vec<(String, serde_json::Value)>,
    /// The type of its result, where it must be written or should be checked.
    pub ty: Option<String>,
    /// Its body, where it has one.
    pub body: Option<NewBody>,
}

/// The body of an op to be made. Its ids are new in the whole module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewBody {
    /// The ids of its arguments: one for each operand of the op.
    pub arguments: Vec<u64>,
    /// Its ops.
    pub statements: Vec<NewStatement>,
    /// The ids of what it yields.
    pub outputs: Vec<u64>,
}

/// Where a new op goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Before the op that defines this id.
    Before(u64),
    /// After the op that defines this id.
    After(u64),
    /// Behind all ops of the module.
    End,
}

impl Edit {
    /// The edit in a few words, for messages.
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
