import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'
import hindi from './hi/index.ts'

const web = fileURLToPath(new URL('..', import.meta.url))
const files = globSync('{console,ui}/**/*.{ts,tsx}', { cwd: web }).filter((file) => !file.endsWith('.test.ts'))

/** Attributes and properties whose values people read. */
const READ_NAMES = [
  'label',
  'title',
  'hint',
  'placeholder',
  'caption',
  'aria-label',
  'alt',
  'heading',
  'note',
  'description',
]
/** Elements whose content is not translated. */
const CODE_ELEMENTS = ['code', 'kbd', 'pre']
/** Names and terms that are the same in every language. */
const UNTRANSLATED = new Set([
  'Attestry',
  'API',
  'CSV',
  'PDF',
  'QTI',
  'WhatsApp',
  'SMS',
  'TOTP',
  'URL',
  'ID',
  'IST',
  'JSON',
  'SCIM',
])

interface Node {
  type: string
  start: number
  [name: string]: unknown
}

const keys = new Map<string, string>()
const untranslated: string[] = []
for (const file of files) collect(file)

test('every text of the console exists in Hindi', () => {
  const missing = [...keys].filter(([text]) => hindi[text] === undefined).map(([text, place]) => `${place}: ${text}`)
  assert.deepEqual(missing, [])
})

test('translations have the placeholders and elements of the English text', () => {
  const markers = (text: string) => [...text.matchAll(/\{\w+\}|<\/?\w+>/g)].map(([marker]) => marker).sort()
  const different = Object.entries(hindi).filter(([text, translation]) => {
    return markers(text).join() !== markers(translation).join()
  })
  assert.deepEqual(different, [])
})

test('no text is translated twice', async () => {
  const places = new Map<string, string[]>()
  for (const file of globSync('translations/hi/*.ts', { cwd: web }).filter((name) => !name.endsWith('index.ts'))) {
    const { default: texts } = (await import(`${web}/${file}`)) as { default: Record<string, string> }
    for (const text of Object.keys(texts)) places.set(text, [...(places.get(text) ?? []), file])
  }
  assert.deepEqual(
    [...places].filter(([, dictionaries]) => dictionaries.length > 1),
    [],
  )
})

test('no translation is unused', () => {
  assert.deepEqual(
    Object.keys(hindi).filter((text) => !keys.has(text)),
    [],
  )
})

test('no text of the console is left out of the translation', () => {
  assert.deepEqual(untranslated, [])
})

function collect(file: string): void {
  const code = readFileSync(`${web}/${file}`, 'utf8')
  const place = (node: Node) => `${file}:${code.slice(0, node.start).split('\n').length}`
  visit(parseAst(code, { lang: 'tsx' }) as unknown as Node, [])

  function visit(node: Node, parents: Node[]): void {
    if (node.type === 'CallExpression' && isTranslation(node)) {
      const [text, values] = node.arguments as Node[]
      const texts = literalTexts(text!)
      if (texts === undefined) untranslated.push(`${place(node)}: the text is not a literal`)
      for (const key of texts ?? []) keys.set(key, place(node))
      if (values) visit(values, [...parents, node])
      return
    }
    const text = readText(node, parents)
    if (text !== undefined && isText(text)) untranslated.push(`${place(node)}: ${text.trim().replaceAll(/\s+/g, ' ')}`)
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value])
        if (child !== null && typeof child === 'object' && 'type' in child) visit(child as Node, [...parents, node])
    }
  }
}

function isTranslation(node: Node): boolean {
  return ['t', 'richText'].includes((node.callee as Node).name as string)
}

/** Returns the texts that an expression can have, or undefined if it contains anything but literals. */
function literalTexts(node: Node): string[] | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return [node.value]
  if (node.type !== 'ConditionalExpression') return undefined
  const [first, second] = [literalTexts(node.consequent as Node), literalTexts(node.alternate as Node)]
  return first && second && [...first, ...second]
}

/** Returns the text of a node that is shown to people: text between tags, in attributes that people read, and in expressions between tags. */
function readText(node: Node, parents: Node[]): string | undefined {
  const parent = parents.at(-1)
  if (node.type === 'JSXText') return isInCode(parents) ? undefined : (node.value as string)
  const text = node.type === 'TemplateElement' ? (node.value as { cooked: string }).cooked : node.value
  if (typeof text !== 'string' || !['Literal', 'TemplateElement'].includes(node.type)) return undefined
  if (parent?.type === 'BinaryExpression' || parent?.type === 'MemberExpression' || isInCode(parents)) return undefined
  const owner = parents.findLast(({ type }) =>
    ['JSXAttribute', 'JSXExpressionContainer', 'Property', 'CallExpression'].includes(type),
  )
  if (owner?.type === 'JSXAttribute') return isReadName((owner.name as Node).name) ? text : undefined
  if (owner?.type === 'Property') return owner.value === node && isReadName((owner.key as Node).name) ? text : undefined
  if (owner?.type !== 'JSXExpressionContainer') return undefined
  const container = parents[parents.indexOf(owner) - 1]
  if (container?.type === 'JSXAttribute') return isReadName((container.name as Node).name) ? text : undefined
  return text
}

function isReadName(name: unknown): boolean {
  return READ_NAMES.includes(name as string)
}

function isInCode(parents: Node[]): boolean {
  return parents.some((node) => {
    const opening = node.openingElement as Node | undefined
    return (
      CODE_ELEMENTS.includes((opening?.name as Node | undefined)?.name as string) ||
      ((opening?.attributes as Node[] | undefined) ?? []).some(
        ({ value }) => ((value as Node | null)?.value as string | undefined)?.split(' ').includes('waiting') === true,
      )
    )
  })
}

function isText(text: string): boolean {
  const words = text.trim()
  return /\p{L}{2,}/u.test(words) && !UNTRANSLATED.has(words)
}
