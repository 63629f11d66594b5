//! Cases of `fusions.rules`.

use super::Case;
use crate::recognised::RECOGNISED;

pub const CASES: &[Case] = RECOGNISED;
