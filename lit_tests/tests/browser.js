// What a browser makes of the page of `--report`, said of the frame of each width in one line; complaints follow it.

/** Whether `inner` lies within `outer`, rounding aside. */
const within = (inner, outer) =>
  inner.x >= outer.x - 0.5 && inner.x + inner.width <= outer.x + outer.width + 0.5 &&
  inner.y >= outer.y - 0.5 && inner.y + inner.height <= outer.y + outer.height + 0.5;

/** Complaints about the boxes of a drawing. */
function boxes(figure) {
  const complaints = [];
  for (const node of figure.querySelectorAll('g')) {
    const box = node.querySelector('rect').getBBox();
    if (!(box.width > 0 && box.height > 0)) complaints.push('a box has no size');
    if (!within(box, figure.viewBox.baseVal)) complaints.push('a box leaves the paper');
    for (const text of node.querySelectorAll('text')) {
      if (!within(text.getBBox(), box)) complaints.push(`'${text.textContent}' leaves its box`);
    }
  }
  return complaints;
}

/** The elements between `heading` and the next one like it. */
function section(heading) {
  const found = [];
  for (let next = heading.nextElementSibling; next && next.tagName !== 'H2'; next = next.nextElementSibling) {
    found.push(next);
  }
  return found;
}

/** How many passes are drawn before and after, and complaints. */
function passes(page) {
  const complaints = [];
  let drawn = 0;
  for (const heading of page.querySelectorAll('h2[id^=pass]')) {
    const parts = section(heading);
    if (parts.some(part => part.textContent.startsWith('It changed nothing'))) continue;
    const figures = parts.flatMap(part => [...part.querySelectorAll('svg.figure')]);
    if (figures.length !== 2 || figures.some(figure => !figure.querySelector('g rect'))) {
      complaints.push(`${heading.textContent} is not drawn before and after`);
      continue;
    }
    drawn += 1;
  }
  return { drawn, complaints };
}

/** How many kernels have loops and instructions to read, and complaints. */
function kernels(page) {
  const complaints = [];
  let read = 0;
  const parts = section(page.querySelector('#kernels')).filter(part => part.tagName === 'DETAILS');
  for (let at = 0; at < parts.length; at += 2) {
    const [loops, instructions] = parts.slice(at, at + 2).map(part => part.querySelector('pre').innerText);
    if (!/= (whole|rest) \S+ in /.test(loops)) complaints.push('a kernel has no loops');
    if (!/\bret/.test(instructions)) complaints.push('a kernel has no instructions');
    read += 1;
  }
  return { read, complaints };
}

/** Complaints about details that show what they hold while closed, or do not when open; leaves all open. */
function details(page) {
  const complaints = [];
  for (const part of page.querySelectorAll('details')) {
    const [summary, content] = part.children;
    if (!part.open && content.checkVisibility()) complaints.push(`${summary.textContent} is closed in vain`);
    if (!part.open) summary.click();
    if (!(part.open && content.checkVisibility())) complaints.push(`${summary.textContent} does not open`);
  }
  return complaints;
}

/** A cell of rewrites that is narrower than this, in pixels, breaks the names of ops into letters. */
const LEAST_CELL = 90;

/** Complaints about tables: none is wider than the page, squeezes a column, or has a cell that says nothing below a heading. */
function tables(page) {
  const complaints = [];
  for (const table of page.querySelectorAll('table')) {
    for (const cell of table.querySelectorAll('th, td')) {
      const outside = cell.getBoundingClientRect().right > page.clientWidth || cell.scrollWidth > cell.clientWidth;
      if (outside) complaints.push(`'${cell.textContent}' is cut off`);
      const squeezed = table.classList.contains('stacks') && cell.tagName === 'TD' && cell.clientWidth < LEAST_CELL;
      if (squeezed) complaints.push(`'${cell.textContent}' is squeezed`);
    }
    const headings = [...table.querySelectorAll('th')].map(heading => heading.textContent);
    for (const row of table.querySelectorAll('tbody tr')) {
      headings.forEach((heading, at) => {
        if (heading && !row.cells[at].textContent) complaints.push(`nothing stands below '${heading}'`);
      });
    }
  }
  return complaints;
}

onload = () => {
  const output = document.querySelector('output');
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument.documentElement;
    const asked = frame.contentWindow.performance.getEntriesByType('resource').length;
    const opening = details(page);
    const { drawn, complaints: drawing } = passes(page);
    const { read, complaints: reading } = kernels(page);
    const boxing = [...page.querySelectorAll('svg.figure')].flatMap(boxes);
    const complaints = [...opening, ...drawing, ...reading, ...boxing, ...tables(page)];
    output.textContent += `[${frame.width}: ${page.scrollWidth} wide, ${asked} asked for, ${drawn} passes drawn, ` +
      `${read} kernels, ${complaints.length} complaints]\n${complaints.map(complaint => `  ${complaint}\n`).join('')}`;
  }
};
