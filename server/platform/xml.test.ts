import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { childElements, parseXml, readLargeXml, XmlError } from './xml.ts'

const parse = (text: string) => parseXml(Buffer.from(text))

test('elements, attributes, namespaces, references and CDATA sections are parsed', () => {
  const root = parse(`<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment --><?instruction?>
<a xmlns="urn:1" xmlns:p="urn:2" b="1 &#65;&#x42;" p:c='"2"' xml:lang="hi">x &lt; y<p:d/><![CDATA[<z> & ]]>
<e xmlns="urn:3">&amp;&apos;</e></a>
`)
  const lang = '{http://www.w3.org/XML/1998/namespace}lang'
  assert.deepEqual([root.name, root.namespace, root.line], ['a', 'urn:1', 3])
  assert.deepEqual([...root.attributes], [['b', '1 AB'], ['{urn:2}c', '"2"'], [lang, 'hi']]) // biome-ignore format: pairs
  assert.deepEqual(
    childElements(root).map(({ name, namespace, line, children }) => [name, namespace, line, children]),
    [
      ['d', 'urn:2', 3, []],
      ['e', 'urn:3', 4, ["&'"]],
    ],
  )
  assert.equal(root.children.filter((child) => typeof child === 'string').join(''), 'x < y<z> & \n')
})

test('documents that are not well-formed, or that declare entities, are rejected with the line', () => {
  const invalid = {
    '': 'expected an element',
    text: 'expected an element',
    '<a>': 'not closed',
    '<a': 'not closed',
    '</a>': 'expected a name',
    '<a></b>': 'expected </a>',
    '<a/><b/>': 'after the end',
    '<a b=1/>': 'quotation marks',
    '<a b="1" b="2"/>': 'occurs twice',
    '<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>': 'occurs twice',
    '<a b="<"/>': 'write &lt;',
    '<a b="1"c="2"/>': 'not closed',
    '<p:a/>': 'not declared',
    '<a>&b;</a>': 'unknown entity',
    '<a>& </a>': 'unknown entity',
    '<a>&#0;</a>': 'unknown entity',
    '<a>&#x110000;</a>': 'unknown entity',
    '<a>]]></a>': 'CDATA',
    '<a><!-- -- --></a>': 'inside a comment',
    '<a>\u0000</a>': 'control character',
    '<!DOCTYPE a><a/>': 'not allowed',
    '<a><!DOCTYPE a></a>': 'not allowed',
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>': 'not allowed',
    '<?xml version="1.1"?><a/>': 'XML 1.0',
    '<?xml version="1.0" encoding="UTF-16"?><a/>': 'UTF-16 is not supported',
  }
  for (const [text, message] of Object.entries(invalid))
    assert.throws(
      () => parse(`${text}`),
      (error) => error instanceof XmlError && error.message.includes(message),
      text,
    )
  assert.throws(() => parse('<a>\n\n<b></c></a>'), { line: 3 })
  assert.throws(() => parseXml(Buffer.from('<a>é</a>', 'latin1')), /UTF-8/)
  assert.throws(() => parseXml(Buffer.from('\ufeff<a/>', 'utf16le')), /UTF-8/)
  assert.doesNotThrow(() => parse('\ufeff<a/>'))
})

test('nesting is limited, and long documents are parsed quickly', () => {
  assert.doesNotThrow(() => parse('<a>'.repeat(64) + '</a>'.repeat(64)))
  assert.throws(() => parse('<a>'.repeat(100_000)), /nested/)
  const startedAt = performance.now()
  parse(`<a>${'<b c="d">e</b>\n'.repeat(40_000)}${'&amp;'.repeat(10_000)}</a>`)
  assert.throws(() => parse(`<a ${'<'.repeat(500_000)}`), XmlError)
  assert.throws(() => parse(`<a>${'&'.repeat(500_000)}</a>`), XmlError)
  assert.ok(performance.now() - startedAt < 5000)
})

test('the numbers of elements and references are limited', () => {
  assert.throws(() => parse(`<a>${'&amp;'.repeat(10_001)}</a>`), /more than 10000 references/)
  assert.equal(parse(`<a>${'<b/>'.repeat(89_999)}</a>`).children.length, 89_999)
  assert.throws(() => parse(`<a>${'<b/>'.repeat(90_000)}</a>`), /more than 90000 elements and attributes/)
  assert.throws(() => parse(`<a>${'<b c="" d=""/>'.repeat(30_000)}</a>`), /more than 90000 elements and attributes/)
  assert.throws(() => parseXml(Buffer.from('<a><b/><b/></a>'), 2), /more than 2 elements/)
})

async function readLarge(text: string, { isSlow = false, maxNodes = (_: number): number => 1e9 } = {}) {
  const lines: number[] = []
  const turns: number[] = []
  const timer = setInterval(() => turns.push(lines.length), 0)
  try {
    await readLargeXml(Buffer.from(text), {
      name: 'b',
      read({ line }, root) {
        assert.equal(root.name, 'a')
        lines.push(line)
        return isSlow
      },
      maxNodes: () => maxNodes(lines.length),
    })
  } finally {
    clearInterval(timer)
  }
  return { lines, turns }
}

test('a large document is parsed in slices, so that other work is not blocked', async () => {
  const { lines, turns } = await readLarge(`<a>${'<b/>\n'.repeat(50_000)}</a>`)
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [50_000, 1, 50_000])
  assert.ok(turns.length > 5, String(turns))
  await assert.rejects(readLarge(`<a>${'<b/>'.repeat(5000)}</c>`), /expected <\/a>/)
  await assert.rejects(readLarge(`<a>${'<b/>'.repeat(90_000)}</a>`), /more than 90000 elements/)
})

test('elements are read when they end, and the limit can grow with them', async () => {
  const { lines } = await readLarge('<a>\n<b>\n<b/></b>\n<c/><b></b>\n</a>')
  assert.deepEqual(lines, [3, 2, 4], 'the inner element ends first')
  const maxNodes = (count: number) => 3 + 2 * count
  assert.equal((await readLarge(`<a>${'<b><c/></b>'.repeat(9)}</a>`, { maxNodes })).lines.length, 9)
  await assert.rejects(readLarge(`<a>${'<c/>'.repeat(9)}<b/></a>`, { maxNodes }), /more than 3 elements/)
  assert.ok((await readLarge(`<a>${'<b/>'.repeat(500)}</a>`, { isSlow: true })).turns.length > 1)
})

test('any text can be written and read again, and any other input returns or throws an XmlError', () => {
  const escapeText = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!/[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(text))
      const { attributes, children } = parse(`<a b="${escapeText(text)}">${escapeText(text)}</a>`)
      assert.deepEqual([attributes.get('b'), children.join('')], [text, text])
    }),
  )
  const fragments = fc.constantFrom(
    '<a',
    '>',
    '</a>',
    '/>',
    ' b="c"',
    '&lt;',
    '&',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '<?',
    '?>',
    'x',
  )
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 30 }), (parts) => {
      try {
        parse(parts.join(''))
      } catch (error) {
        assert.ok(error instanceof XmlError, String(error))
      }
    }),
    { numRuns: 2000 },
  )
})

test('many namespaces or elements are rejected before they cost time', () => {
  const declarations = Array.from({ length: 40 }, (_, index) => ` xmlns:p${index}="urn:${index}"`).join('')
  assert.throws(() => parse(`<a${declarations}/>`), /more than 16 namespaces/)
  const nested = Array.from(
    { length: 20 },
    (_, index) => `<a xmlns:p${index}="urn:${index}" xmlns:q${index}="urn:q">`,
  ).join('')
  assert.throws(() => parse(nested), /more than 16 namespaces/)
  assert.throws(() => parse(`<a>${'<b xmlns="urn:b"/>'.repeat(60_001)}</a>`), /more than 90000 elements/)
})
