//! Checks that the nodes together compute the model.

use std::collections::BTreeMap;

use mind_diag::Span;
use mind_json::Value;

use super::buffers::Declared;
use super::field::{Reader, span_of};
use super::nodes::{Nodes, Placed};
use crate::codes;
use crate::condition::Mode;
use crate::config::Config;
use crate::family::Stack;
use crate::layout::buffers::Scope;
use crate::layout::nodes::{Access, Node, PlanSection, nodes, ordered};

/// Checks that the nodes compute the model, in prefill and in decode steps.
pub(super) fn check(
    all: &Nodes,
    buffers: &[Declared<'_>],
    config: &Config,
    root: &Value,
    r: &mut Reader,
) {
    if all.broken {
        return;
    }
    for node in &all.placed {
        let layer = node.layer.unwrap_or(0);
        let (key, layers) = match node.row.stack {
            Stack::Source => ("encoder_layers", Scope::Encoder.count(config)),
            Stack::Main => ("num_layers", config.num_layers),
        };
        if layer >= layers {
            let message = format!("layer {layer} is not below `{key}` {layers}");
            r.push(codes::RANGE, node.span, message);
            return;
        }
    }
    for mode in Mode::INFERENCE {
        let holds = |node: &&Placed| {
            let condition = node.condition.as_ref();
            let config = in_layer(config, node);
            condition.is_none_or(|own| own.holds(&config, mode))
        };
        let kept: Vec<&Placed> = all.placed.iter().filter(holds).collect();
        let before = r.found.error_count();
        check_plan(&kept, all.span, config, r);
        check_declared(&kept, buffers, config, root, r);
        check_biases(&kept, config, r);
        if r.found.error_count() > before {
            return;
        }
    }
}

/// Returns the configuration for which conditions of a node are evaluated.
fn in_layer(config: &Config, node: &Placed) -> Config {
    let own = config.of_stack(node.row.stack).unwrap_or(*config);
    node.layer.map_or(own, |layer| own.of_layer(layer))
}

/// Checks that every section has each of its nodes once, in a valid execution order.
fn check_plan(kept: &[&Placed], span: Span, config: &Config, r: &mut Reader) {
    let section_of = |node: &Placed| (node.row.stack, node.row.section, node.layer);
    if let Some(pair) = kept
        .windows(2)
        .find(|pair| section_of(pair[0]) > section_of(pair[1]))
    {
        let place = |node: &Placed| match node.layer {
            Some(layer) => format!("`{}` of layer {layer}", node.row.op()),
            None => format!("`{}` of the model", node.row.op()),
        };
        let message = format!("{} follows {}", place(pair[1]), place(pair[0]));
        r.push(codes::FLOW, pair[1].span, message);
        return;
    }
    let mut rest = kept;
    for (stack, config) in config.stacks() {
        let layers = (0..config.num_layers).map(|layer| (PlanSection::Layer, Some(layer)));
        let first = std::iter::once((PlanSection::First, None));
        let sections = first.chain(layers).chain([(PlanSection::Last, None)]);
        for (section, layer) in sections {
            let count = rest.partition_point(|node| section_of(node) <= (stack, section, layer));
            let (own, behind) = rest.split_at(count);
            rest = behind;
            check_section(own, (section, layer), span, &config, r);
        }
    }
}

fn check_section(
    own: &[&Placed],
    (section, layer): (PlanSection, Option<usize>),
    span: Span,
    config: &Config,
    r: &mut Reader,
) {
    let config = &layer.map_or(*config, |layer| config.of_layer(layer));
    for (at, node) in own.iter().enumerate() {
        let has_experts = layer.is_some_and(|layer| config.has_experts(layer));
        if !node.row.exists(config) || !node.row.layers.has(has_experts) {
            let message = format!("the configuration has no `{}`", node.row.op());
            r.push(codes::CONTRADICTION, node.span, message);
            return;
        }
        // A section has few distinct nodes, so a repeated one is found before many nodes are compared.
        for earlier in &own[..at] {
            if std::ptr::eq(earlier.row, node.row) {
                let message = format!("`{}` appears twice", node.row.op());
                r.push(codes::TWICE, node.span, message);
                return;
            } else if index(node.row, config) < index(earlier.row, config)
                && ordered(node.row, earlier.row)
            {
                let message = format!(
                    "`{}` must come before `{}`",
                    node.row.op(),
                    earlier.row.op()
                );
                r.push(codes::FLOW, node.span, message);
            }
        }
    }
    // Missing nodes of the whole model are added from the plan.
    let Some(layer) = layer else { return };
    let expected = nodes(config, section).filter(|row| row.layers.has(config.has_experts(layer)));
    for row in expected {
        if own.iter().any(|node| std::ptr::eq(node.row, row)) {
            continue;
        }
        let out = row.args.iter().find(|arg| arg.access != Access::In);
        let out = out.map_or("", |arg| arg.buffer.as_str());
        let message = format!("layer {layer} has no `{}` that writes `{out}`", row.op());
        let near = own.first().map_or(span, |node| node.span);
        r.push(codes::FLOW, near, message);
        return;
    }
}

/// Returns the index of a node in the plan.
fn index(row: &'static Node, config: &Config) -> usize {
    let mut all = config.family.nodes();
    all.position(|own| std::ptr::eq(own, row))
        .unwrap_or(usize::MAX)
}

/// Checks that every buffer that a node accesses is declared, including those of added nodes.
fn check_declared(
    kept: &[&Placed],
    buffers: &[Declared<'_>],
    config: &Config,
    root: &Value,
    r: &mut Reader,
) {
    let named: BTreeMap<&str, &Declared<'_>> = buffers.iter().map(|own| (own.name, own)).collect();
    let is_declared = |name: &str, config: &Config| {
        let own = named.get(name);
        own.is_some_and(|own| own.exists(config))
    };
    for node in kept {
        let config = in_layer(config, node);
        for (own, span) in &node.bound {
            if !is_declared(&own.buffer, &config) {
                let message = format!("buffer `{}` is not declared", own.buffer);
                r.push(codes::NAME, *span, message);
                return;
            }
        }
    }
    let stacks: Vec<(Stack, Config)> = config.stacks().collect();
    let supplied = stacks.iter().flat_map(|(_, own)| {
        let all = nodes(own, PlanSection::First).chain(nodes(own, PlanSection::Last));
        all.collect::<Vec<_>>()
    });
    let needed = supplied.flat_map(|row| &row.args).filter(|arg| {
        // The position table is an optional argument of the kernel, but a model without rotation needs it.
        let buffer = config.family.buffer(&arg.buffer);
        let is_needed = buffer.is_some_and(|own| own.is_weight() && !own.optional);
        (!arg.optional || is_needed) && arg.is_listed(config)
    });
    for arg in needed {
        if !is_declared(&arg.buffer, config) {
            let message = format!("buffer `{}` is not declared", arg.buffer);
            r.push(codes::NAME, span_of(root, "buffers"), message);
        }
    }
}

/// Checks that every layer binds the same biases.
fn check_biases(kept: &[&Placed], config: &Config, r: &mut Reader) {
    let names = config.family.optional().map(|own| own.name.as_str());
    for name in names.filter(|name| config.has_bias(name)) {
        for node in kept {
            let takes = node.row.args.iter().any(|arg| arg.buffer == name);
            let bound = node.bound.iter().any(|(arg, _)| arg.buffer == name);
            if takes && !bound {
                let message = format!("the model has `{name}`, which is not bound here");
                r.push(codes::CONTRADICTION, node.span, message);
                return;
            }
        }
    }
}
