// The grammars, over every example and every input of the regression suite.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const require = createRequire(import.meta.url);
const { grammars } = JSON.parse(readFileSync(join(here, "../package.json"), "utf8")).contributes;

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    const grammar = grammars.find((own) => own.scopeName === scope);
    const path = join(here, "..", grammar.path);
    return textmate.parseRawGrammar(readFileSync(path, "utf8"), path);
  },
});

/** The tokens of a text: line, words, and the innermost scope. */
async function tokens(scope, text) {
  const grammar = await registry.loadGrammar(scope);
  const found = [];
  let stack = textmate.INITIAL;
  for (const [number, line] of text.split(/\r?\n/).entries()) {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const { startIndex, endIndex, scopes } of result.tokens) {
      const word = line.slice(startIndex, endIndex);
      found.push({ line: number + 1, word, scopes, scope: scopes.at(-1) });
    }
  }
  return found;
}

/** The files below a folder. */
function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

const SCOPES = {
  ".mic": "source.mind.mic",
  ".mic2": "source.mind.mic2",
  ".core": "source.mind.core",
  ".mil": "source.mil",
  ".rules": "source.mind.rules",
};

const places = ["examples", "lit_tests", "passes/mind-rules/rules"];
const paths = places
  .flatMap((place) => files(join(root, place)))
  .filter((path) => extname(path) in SCOPES)
  // Texts that are wrong on purpose hold words that mean nothing.
  .filter((path) => !/RUN: not |expected-error/.test(readFileSync(path, "utf8")));

test("every word of every input has a scope of its own, and none is invalid", async () => {
  assert.ok(paths.length > 250, `${paths.length} files`);
  for (const path of paths) {
    const scope = SCOPES[extname(path)];
    for (const token of await tokens(scope, readFileSync(path, "utf8"))) {
      const place = `${relative(root, path)}:${token.line}: \`${token.word}\` is ${token.scopes.join(" ")}`;
      assert.ok(!token.scopes.some((own) => own.includes("invalid")), place);
      assert.ok(!/\w/.test(token.word) || token.scopes.length > 1, place);
    }
  }
});

test("comments are comments to their end", async () => {
  for (const path of paths) {
    const mark = extname(path) === ".mil" ? "//" : "#";
    const lines = readFileSync(path, "utf8").split(/\r?\n/);
    const all = await tokens(SCOPES[extname(path)], lines.join("\n"));
    for (const [index, line] of lines.entries()) {
      if (line.trimStart().startsWith(mark)) {
        const own = all.filter((token) => token.line === index + 1 && token.word.trim() !== "");
        const place = `${relative(root, path)}:${index + 1}`;
        assert.ok(own.every((token) => token.scope.startsWith("comment.")), place);
      }
    }
  }
});

/** The names of ops in each format, from the op reference. */
function opNames() {
  const names = { core: new Set(), mic1: new Set(), mic2: new Set(), mil: new Set() };
  for (const path of files(join(root, "docs/ops")).filter((path) => !path.endsWith("mil-states.md"))) {
    for (const line of readFileSync(path, "utf8").split("\n")) {
      const row = line.match(/^\| \[`([^`]+)`\]\([^)]*\) \| (.+?) \| (.+?) \| (.+?) \|/);
      if (row === null) continue;
      const [, full, core, mic1, mic2] = row;
      const word = (cell) => cell.replaceAll("`", "");
      names.core.add(full);
      const frames = ["program", "func", "input"];
      const own = full.replace(/^mil\./, "");
      if (own !== full && !frames.includes(own)) names.mil.add(own);
      if (core !== "–") names.core.add(word(core));
      if (mic1 !== "–") names.mic1.add(word(mic1));
      if (mic2 !== "–") names.mic2.add(word(mic2));
    }
  }
  return names;
}

test("every op has the scope of ops in every format", async () => {
  const names = opNames();
  assert.ok(names.core.size > 100 && names.mic1.size > 30 && names.mic2.size >= 20, `${names.core.size} ${names.mic1.size} ${names.mic2.size}`);
  assert.ok(names.mil.size > 150, `${names.mil.size}`);
  const cases = [
    ["source.mind.core", names.core, (name) => `%1 = ${name} (%0)`],
    ["source.mind.mic", names.mic1, (name) => `mic@1\nN1 ${name} N0`],
    ["source.mind.mic2", names.mic2, (name) => `mic@2\n${name} 0`],
    ["source.mind.mic", names.mic2, (name) => `mic@2\n${name} 0`],
    ["source.mil", names.mil, (name) => `tensor<fp16, [1]> y = ${name}(x = x);`],
  ];
  for (const [scope, ops, line] of cases) {
    for (const name of ops) {
      // Inputs of mic@2 are lines of their own.
      if (["a", "p"].includes(name)) continue;
      const found = (await tokens(scope, line(name))).find((token) => token.word === name);
      assert.equal(found?.scope, "support.function.op", `${scope} ${name}`);
    }
  }
});

/** The scope of each word of a text, once. */
async function scopes(scope, text) {
  const pairs = (await tokens(scope, text)).map((token) => [token.word.trim(), token.scope]);
  return Object.fromEntries(pairs.filter(([word]) => word !== ""));
}

test("ids, types, literals and names are told apart", async () => {
  const mic1 = await scopes("source.mind.mic", 'mic@1\nS0 "x"\nT0 [f32;B,3]\nN0 input S0 T0\nN1 sum N0 [1] kd=1 T0 # c\nO N1');
  assert.equal(mic1['x'], "string.quoted.double");
  assert.equal(mic1["f32"], "storage.type");
  assert.equal(mic1["B"], "variable.parameter.dimension");
  assert.equal(mic1["N0"], "variable.other.value");
  assert.equal(mic1["kd"], "variable.parameter.attribute");
  assert.equal(mic1["# c"], "comment.line.number-sign");
  const mic2 = await scopes("source.mind.mic2", "mic@2\nS B\nT0 bf16 B ?\na X T0\nrshp 0 B -1\nO 1");
  assert.equal(mic2["mic@2"], "keyword.control.header");
  assert.equal(mic2["X"], "variable.other.definition");
  assert.equal(mic2["?"], "constant.language.dynamic");
  assert.equal(mic2["-1"], "constant.numeric");
  assert.equal(mic2["1"], "variable.other.value");
  const core = await scopes("source.mind.core", "%0 = Input {name=x, role=param} : tensor<f32[B, 4]>\n%1 = ConstF32 {value=-1.5e-3}\noutputs: %0");
  assert.equal(core["%0"], "variable.other.value");
  assert.equal(core["Input"], "support.function.op");
  assert.equal(core["role"], "variable.parameter.attribute");
  assert.equal(core["-1.5e-3"], "constant.numeric");
  assert.equal(core["outputs"], "keyword.control");
  const mil = await scopes("source.mil", 'program(1.3)\nfunc main<ios18>(tensor<fp16, [1]> x) {\nfp16 e = const()[val = fp16(0x1.5p-2)];\ntensor<fp16, [1]> y = relu(x = x)[name = string("y")]; // c\n} -> (y);');
  assert.equal(mil["main"], "entity.name.function");
  assert.equal(mil["relu"], "support.function.op");
  assert.equal(mil["0x1.5p-2"], "constant.numeric");
  assert.equal(mil["name"], "variable.parameter.argument");
  assert.equal(mil["y"], "variable.other.value");
  const rules = await scopes("source.mind.rules", "rule a-b\n  class approx(1e-6), nnan\n  where is_float(?x) and rank(?x) == 2\n  core.sum(?x: 't[m, ..s]) {axes=$a} <=> ?x\n  source \"why\"");
  assert.equal(rules["a-b"], "entity.name.function.rule");
  assert.equal(rules["approx"], "constant.language.word");
  assert.equal(rules["is_float"], "support.function.predicate");
  assert.equal(rules["?x"], "variable.other.value");
  assert.equal(rules["'t"], "storage.type.variable");
  assert.equal(rules["..s"], "variable.parameter.dimension");
  assert.equal(rules["$a"], "variable.parameter.attribute");
  assert.equal(rules["<=>"], "keyword.operator.rewrite");
});
