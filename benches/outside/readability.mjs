// Texts of pages by Mozilla's Readability in jsdom.
//
// usage: node readability.mjs LIST
//
// Each line of LIST holds an input file (HTML in UTF-8), an output file and the URL, separated by tabs.

import fs from 'node:fs';
import { Readability } from '@mozilla/readability';
import { JSDOM, VirtualConsole } from 'jsdom';

const INLINE = new Set(['A', 'ABBR', 'B', 'BDI', 'BDO', 'CITE', 'CODE', 'DEL', 'DFN', 'EM', 'FONT', 'I', 'INS', 'KBD',
  'MARK', 'Q', 'S', 'SAMP', 'SMALL', 'SPAN', 'STRONG', 'SUB', 'SUP', 'TIME', 'TT', 'U', 'VAR', 'WBR']);

// The text of an element with line breaks around its blocks; `textContent` joins the words of neighbours.
function textOf(root) {
  let text = '';
  const visit = (node) => {
    if (node.nodeType === 3) text += node.data;
    if (node.nodeType !== 1) return;
    const isBlock = !INLINE.has(node.tagName);
    if (isBlock) text += '\n';
    for (const child of node.childNodes) visit(child);
    if (isBlock) text += '\n';
  };
  visit(root);
  return text.replace(/[ \t\r\n]*\n[ \t\r\n]*/g, '\n').trim();
}

function extract(html, url) {
  const dom = new JSDOM(html, { url, virtualConsole: new VirtualConsole() });
  try {
    const article = new Readability(dom.window.document).parse();
    return article ? textOf(new JSDOM(article.content).window.document.body) : '';
  } finally {
    dom.window.close();
  }
}

for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const [source, output, url] = line.split('\t');
  let text = '';
  try {
    text = extract(fs.readFileSync(source, 'utf8'), url);
  } catch {
    // A page on which the extractor fails counts as empty.
  }
  fs.writeFileSync(`${output}.partial`, text);
  fs.renameSync(`${output}.partial`, output);
}
