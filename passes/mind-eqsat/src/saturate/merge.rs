//! Merges several ops that share an operand into one, for example matrix products with the same left operand.
//!
//! The matches of a rule that agree in all but one value form a bucket. The differing values are joined, and each match
//! becomes a part of the result over the join. There is one proposal per bucket, so the work is linear in the number of
//! matches. Extraction decides for the whole bucket whether the merge pays.

use egg::Id;
use mind_ir::types::{DType, Dim};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::egraph::analysis::Eg;
use crate::egraph::payload::AttrId;
use crate::load::{Loaded, MergedPart};
use crate::report::RuleStats;
use crate::saturate::apply::{Joined, Outcome, Site, apply_joined};
use crate::search::Match;
use mind_rules::AttrValue;
use mind_rules::matching::pattern::{Join, Template, TemplateOperand, TemplateTerm};

/// The values in which the members of a bucket agree.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    registers: SmallVec<[Id; 4]>,
    attrs: SmallVec<[Option<AttrId>; 4]>,
    dtype: DType,
    /// The shape of the joined value without the joined axis.
    shape: SmallVec<[Dim; 4]>,
}

struct Member {
    found: Match,
    /// The class of the value to join, and its extent along the joined axis.
    joined: Id,
    extent: i64,
    /// The positions in the program of the match, and of the value to join.
    position: u32,
    since: u32,
}

/// Applies the rule of `site` to the buckets of its matches.
pub(crate) fn merge(
    loaded: &mut Loaded<'_>,
    site: Site<'_>,
    (template, join): (&Template, Join),
    found: Vec<Match>,
    stats: &mut RuleStats,
) {
    stats.matched += found.len();
    if found.len() < 2 {
        return;
    }
    let positions = positions(loaded);
    let mut buckets: Vec<Vec<Member>> = Vec::new();
    let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
    for found in found {
        let Some((key, member)) = member(&loaded.egraph, &positions, template, join, found) else {
            continue;
        };
        let next = buckets.len();
        let number = *numbers.entry(key).or_insert(next);
        if number == next {
            buckets.push(Vec::new());
        }
        buckets[number].push(member);
    }
    for mut bucket in buckets {
        bucket.sort_by_key(|member| (member.position, member.joined));
        bucket.dedup_by_key(|member| member.joined);
        let mut rest = bucket.as_slice();
        // All joined values must be defined before the first match that reads them.
        while let Some(first) = rest.first() {
            let late = |member: &Member| member.since >= first.position;
            let len = rest.iter().position(late).unwrap_or(rest.len()).max(1);
            let (together, later) = rest.split_at(len);
            rest = later;
            if together.len() > 1 {
                apply(loaded, site, (template, join), together, stats);
            }
        }
    }
}

/// Returns the position at which the program computes each class, by id; `u32::MAX` for other classes.
fn positions(loaded: &Loaded<'_>) -> Vec<u32> {
    let mut positions = vec![u32::MAX; loaded.egraph.nodes().len()];
    let ops = loaded.ops.iter().map(|op| (op.result, op.position));
    for (value, position) in loaded.leaves.iter().copied().chain(ops) {
        let class = loaded.egraph.find(loaded.classes[&value]);
        let earliest = &mut positions[usize::from(class)];
        *earliest = position.min(*earliest);
    }
    positions
}

/// Returns the match as a member of its bucket; `None` if it cannot be merged.
fn member(
    egraph: &Eg<'_>,
    positions: &[u32],
    template: &Template,
    join: Join,
    found: Match,
) -> Option<(Key, Member)> {
    let joined = egraph.find(found.registers[usize::from(join.reg)]);
    let data = egraph[joined].data;
    let known = |id: Id| positions.get(usize::from(id)).copied();
    let computed = |id: Id| known(id).filter(|&position| position != u32::MAX);
    let since = match data.constant {
        Some(_) => 0,
        None => computed(joined)?,
    };
    let position = computed(egraph.find(found.registers[0]))?;
    let ty = egraph.analysis.store.ty(data.ty);
    let axis = joined_axis(template, join, ty.shape)?;
    let extent = ty.shape.get(axis)?.fixed()?;
    let mut shape: SmallVec<[Dim; 4]> = ty.shape.into();
    shape.remove(axis);
    let others = found.registers.iter().enumerate();
    let others = others.filter(|&(at, _)| at != 0 && at != usize::from(join.reg));
    let key = Key {
        registers: others.map(|(_, &id)| egraph.find(id)).collect(),
        attrs: found.slots.attrs.as_slice().into(),
        dtype: ty.dtype,
        shape,
    };
    let member = Member {
        found,
        joined,
        extent,
        position,
        since,
    };
    Some((key, member))
}

/// Returns the axis along which values of `shape` are joined.
fn joined_axis(template: &Template, join: Join, shape: &[Dim]) -> Option<usize> {
    let TemplateTerm::Op { attrs, .. } = &template.terms[join.term] else {
        return None;
    };
    let mind_rules::expr::Expression::Literal(AttrValue::Int(axis)) = attrs[0] else {
        return None;
    };
    let rank = shape.len() as i64;
    usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()
}

/// Returns the extent of a class along the joined axis.
pub(crate) fn joined_extent(
    loaded: &Loaded<'_>,
    template: &Template,
    join: Join,
    class: Id,
) -> Option<i64> {
    let ty = loaded.egraph[class].data.ty;
    let shape = loaded.egraph.analysis.store.ty(ty).shape;
    shape.get(joined_axis(template, join, shape)?)?.fixed()
}

/// Returns the match with the bounds of its part of the join in the last two slots.
pub(crate) fn placed(egraph: &mut Eg<'_>, found: &Match, bounds: [i64; 2]) -> Match {
    let mut found = found.clone();
    let slots = found.slots.attrs.len() - bounds.len()..;
    for (slot, bound) in found.slots.attrs[slots].iter_mut().zip(bounds) {
        *slot = Some(egraph.analysis.store.intern_attr(AttrValue::Int(bound)));
    }
    found
}

fn apply(
    loaded: &mut Loaded<'_>,
    site: Site<'_>,
    (template, join): (&Template, Join),
    members: &[Member],
    stats: &mut RuleStats,
) {
    let operands: Vec<Id> = members.iter().map(|member| member.joined).collect();
    let joined = Joined {
        term: join.term,
        operands: &operands,
    };
    let mut parts = Vec::new();
    let mut from = 0i64;
    for member in members {
        let Some(to) = from.checked_add(member.extent) else {
            return;
        };
        let found = placed(&mut loaded.egraph, &member.found, [from, to]);
        from = to;
        let egraph = &mut loaded.egraph;
        let (outcome, ids) = apply_joined(egraph, site, template, &found, Some(joined));
        match outcome {
            Outcome::Applied => stats.applied += 1,
            Outcome::Refused => stats.refused += 1,
            Outcome::Known => {}
        }
        if let (Some(TemplateTerm::Op { operands, .. }), false) =
            (template.terms.last(), ids.is_empty())
        {
            parts.push(MergedPart {
                class: found.registers[0],
                children: operands
                    .iter()
                    .filter_map(|operand| match operand {
                        TemplateOperand::Term(at) => Some(ids[*at]),
                        TemplateOperand::List(_) | TemplateOperand::Each(_) => None,
                    })
                    .collect(),
            });
        }
    }
    loaded.merges.push(parts);
}
