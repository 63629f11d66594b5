//! Words of `meta` that reading and writing share.

use mind_weights::Role;

use crate::config::Biases;

/// A bias, by the buffer that holds it.
pub(crate) struct Bias {
    /// The buffer.
    pub(crate) name: &'static str,
    /// Its place in the configuration.
    field: fn(&mut Biases) -> &mut bool,
}

impl Bias {
    /// Whether the model has it.
    pub(crate) fn get(&self, biases: &Biases) -> bool {
        let mut biases = *biases;
        *(self.field)(&mut biases)
    }

    /// Says whether the model has it.
    pub(crate) fn set(&self, biases: &mut Biases, has: bool) {
        *(self.field)(biases) = has;
    }
}

/// Every bias.
pub(crate) const BIASES: [Bias; 6] = [
    bias("bq", |biases| &mut biases.q),
    bias("bk", |biases| &mut biases.k),
    bias("bv", |biases| &mut biases.v),
    bias("bo", |biases| &mut biases.o),
    bias("b1", |biases| &mut biases.gate_up),
    bias("b2", |biases| &mut biases.down),
];

const fn bias(name: &'static str, field: fn(&mut Biases) -> &mut bool) -> Bias {
    Bias { name, field }
}

/// The second part of a buffer that two tensors fill.
const PARTS: [(Role, &str); 2] = [(Role::Up, "w1.up"), (Role::UpBias, "b1.up")];

/// What `weight_dtypes` calls the tensor of `role`.
pub(crate) fn dtype_key(role: Role) -> &'static str {
    let part = PARTS.iter().find(|(own, _)| *own == role);
    part.map_or(role.buffer().unwrap_or_default(), |(_, key)| key)
}

/// The roles that a key of `weight_dtypes` means; a whole buffer means each of its parts.
pub(crate) fn roles_of(key: &str) -> Vec<Role> {
    let parts = PARTS.iter().filter(|(_, own)| *own == key);
    let part: Vec<Role> = parts.map(|(role, _)| *role).collect();
    if part.is_empty() {
        crate::layout::buffers::buffer(key)
            .map(|row| row.roles().to_vec())
            .unwrap_or_default()
    } else {
        part
    }
}
