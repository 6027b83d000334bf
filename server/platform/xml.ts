import { isUtf8 } from 'node:buffer'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

/**
 * A strict parser for small XML documents from strangers. It accepts well-formed XML 1.0 with namespaces in UTF-8, and rejects document
 * type declarations. So there are no entities to expand or to fetch, and the result is never larger than the document.
 */

export interface XmlElement {
  /** Local name, without the prefix. */
  name: string
  namespace: string
  /** By local name; attributes in a namespace by `{namespace}name`. */
  attributes: Map<string, string>
  children: (XmlElement | string)[]
  line: number
}

export class XmlError extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'

const MAX_DEPTH = 64
const MAX_ATTRIBUTES = 64
/** Namespaces are copied for elements that declare one, so their number limits the work per element. */
const MAX_NAMESPACES = 16
/** Elements and attributes of a document. */
const MAX_NODES = 90_000
/** References such as `&amp;`, which take long to resolve. Texts in UTF-8 need few. */
const MAX_REFERENCES = 10_000
/** Number of tags, texts and comments that are parsed before other work gets its turn. */
const PARTS_PER_SLICE = 1000

const NAME = /[\p{L}_][\p{L}\p{M}\p{N}._\-·]*(?::[\p{L}_][\p{L}\p{M}\p{N}._\-·]*)?/uy
const WHITE_SPACE = /[ \t\n]*/y
const INVALID_CHARACTER = /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const PREDEFINED_ENTITIES = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

/** Returns the root element of a small document. */
export function parseXml(bytes: Uint8Array, maxNodes = MAX_NODES): XmlElement {
  const slices = new XmlParser(decode(bytes), { maxNodes: () => maxNodes }).parse()
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

interface LargeXmlOptions {
  /** Local name of the elements to read. */
  name: string
  /** Reads an element, after its end tag. Returns true if that took long, so that other work gets its turn. */
  read(element: XmlElement, root: XmlElement): boolean
  /** Returns the allowed number of elements and attributes, which can grow with the elements that were read. */
  maxNodes(): number
}

/** Parses a document that can be large, and reads its elements with a name. Other work is done while it is parsed. */
export async function readLargeXml(bytes: Uint8Array, { name, read, maxNodes }: LargeXmlOptions): Promise<void> {
  const limits = { maxNodes: () => Math.min(MAX_NODES, maxNodes()) }
  const slices = new XmlParser(decode(bytes), limits, { name, read }).parse()
  while (!slices.next().done) await yieldToEventLoop()
}

/** Returns the child elements. */
export function childElements({ children }: XmlElement): XmlElement[] {
  return children.filter((child) => typeof child !== 'string')
}

function decode(bytes: Uint8Array): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16 || !isUtf8(bytes)) throw new XmlError('the file is not encoded in UTF-8; save it as UTF-8', 1)
  const text = new TextDecoder().decode(bytes)
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}

class XmlParser {
  readonly #text: string
  readonly #limits: { maxNodes(): number }
  readonly #reader: Pick<LargeXmlOptions, 'name' | 'read'> | undefined
  #position = 0
  #nodeCount = 0
  #referenceCount = 0
  #lineNumber = 1
  /** The end of the line with this number; negative in the last line. */
  #nextLineEnd: number

  constructor(text: string, limits: { maxNodes(): number }, reader?: Pick<LargeXmlOptions, 'name' | 'read'>) {
    this.#text = text
    this.#limits = limits
    this.#reader = reader
    this.#nextLineEnd = text.indexOf('\n')
    const invalid = INVALID_CHARACTER.exec(text)
    if (invalid) {
      this.#position = invalid.index
      this.#fail('a control character; remove it')
    }
  }

  /** Yields after each slice, and returns the root element. */
  *parse(): Generator<undefined, XmlElement> {
    this.#parseDeclaration()
    this.#skipBetweenElements()
    if (!this.#text.startsWith('<', this.#position)) this.#fail('expected an element')
    const root = yield* this.#parseElements()
    this.#skipBetweenElements()
    if (this.#position < this.#text.length) this.#fail('text after the end of the root element; remove it')
    return root
  }

  #parseDeclaration(): void {
    if (!/^<\?xml[ \t\n]/.test(this.#text)) return
    const declaration = this.#readUntil('?>', 'the XML declaration is not closed')
    const encoding = /encoding[ \t\n]*=[ \t\n]*["']([^"']*)["']/.exec(declaration)?.[1]
    if (encoding && !/^(?:utf-?8|us-ascii)$/i.test(encoding))
      this.#fail(`the encoding ${encoding.slice(0, 20)} is not supported; save the file as UTF-8`)
    if (/version[ \t\n]*=[ \t\n]*["'](?!1\.0["'])/.test(declaration)) this.#fail('only XML 1.0 is supported')
  }

  /** Skips white space, comments and processing instructions outside the root element. */
  #skipBetweenElements(): void {
    for (;;) {
      this.#skipWhiteSpace()
      if (!this.#skipCommentOrInstruction()) return
    }
  }

  #skipCommentOrInstruction(): boolean {
    if (this.#text.startsWith('<!--', this.#position)) {
      this.#position += 4
      const comment = this.#readUntil('-->', 'a comment is not closed')
      if (comment.includes('--') || comment.endsWith('-')) this.#fail('"--" inside a comment')
      return true
    }
    if (this.#text.startsWith('<?', this.#position)) {
      this.#readUntil('?>', 'a processing instruction is not closed')
      return true
    }
    if (this.#text.startsWith('<!DOCTYPE', this.#position))
      this.#fail('a document type declaration (DOCTYPE) is not allowed; remove it')
    return false
  }

  /** Parses the root element with its content. Not recursive, so that deep nesting cannot exhaust the stack. */
  *#parseElements(): Generator<undefined, XmlElement> {
    const open: { element: XmlElement; tag: string; namespaces: Map<string, string> }[] = []
    let namespaces = new Map([
      ['', ''],
      ['xml', XML_NAMESPACE],
    ])
    for (let part = 1; ; part++) {
      if (part % PARTS_PER_SLICE === 0) yield
      const parent = open.at(-1)
      if (parent && !this.#text.startsWith('<', this.#position)) {
        this.#addText(parent.element, this.#parseText())
      } else if (parent && this.#text.startsWith('</', this.#position)) {
        this.#position += 2
        const tag = this.#readName()
        if (tag !== parent.tag) this.#fail(`expected </${parent.tag}>, got </${tag.slice(0, 60)}>`)
        this.#skipWhiteSpace()
        this.#expect('>')
        open.pop()
        if (this.#endElement(parent.element, open[0]?.element)) yield
        if (open.length === 0) return parent.element
        namespaces = open.at(-1)!.namespaces
      } else if (parent && this.#text.startsWith('<![CDATA[', this.#position)) {
        this.#position += 9
        this.#addText(parent.element, this.#readUntil(']]>', 'a CDATA section is not closed'))
      } else if (parent && this.#skipCommentOrInstruction()) {
        // Comments and processing instructions are ignored.
      } else {
        const { element, tag, isEmpty, ownNamespaces } = this.#parseStartTag(namespaces)
        parent?.element.children.push(element)
        if (isEmpty && this.#endElement(element, open[0]?.element)) yield
        if (isEmpty && !parent) return element
        if (isEmpty) continue
        if (open.length >= MAX_DEPTH) this.#fail(`elements are nested more than ${MAX_DEPTH} levels deep`)
        namespaces = ownNamespaces
        open.push({ element, tag, namespaces })
      }
    }
  }

  #endElement(element: XmlElement, root = element): boolean {
    return element.name === this.#reader?.name && this.#reader.read(element, root)
  }

  #countNode(): void {
    const maxNodes = this.#limits.maxNodes()
    if (++this.#nodeCount > maxNodes) this.#fail(`more than ${maxNodes} elements and attributes`)
  }

  #parseStartTag(outerNamespaces: Map<string, string>) {
    this.#countNode()
    const line = this.#line()
    this.#expect('<')
    const tag = this.#readName()
    const rawAttributes: [name: string, value: string][] = []
    let isEmpty = false
    for (;;) {
      const before = this.#position
      this.#skipWhiteSpace()
      if (this.#text.startsWith('/>', this.#position)) {
        this.#position += 2
        isEmpty = true
        break
      }
      if (this.#text.startsWith('>', this.#position)) {
        this.#position++
        break
      }
      if (this.#position === before) this.#fail(`the tag <${tag.slice(0, 60)}> is not closed`)
      this.#countNode()
      rawAttributes.push(this.#parseAttribute())
      if (rawAttributes.length > MAX_ATTRIBUTES) this.#fail(`more than ${MAX_ATTRIBUTES} attributes`)
    }
    let ownNamespaces = outerNamespaces
    for (const [name, value] of rawAttributes) {
      const prefix = name === 'xmlns' ? '' : name.startsWith('xmlns:') ? name.slice(6) : undefined
      if (prefix === undefined) continue
      if (ownNamespaces.get(prefix) === value) continue
      if (ownNamespaces === outerNamespaces) ownNamespaces = new Map(outerNamespaces)
      ownNamespaces.set(prefix, value)
      if (ownNamespaces.size > MAX_NAMESPACES) this.#fail(`more than ${MAX_NAMESPACES} namespaces`)
    }
    const attributes = new Map<string, string>()
    for (const [rawName, value] of rawAttributes) {
      if (rawName === 'xmlns' || rawName.startsWith('xmlns:')) continue
      // An attribute without a prefix is in no namespace.
      const { name, namespace } = rawName.includes(':')
        ? this.#resolveName(rawName, ownNamespaces)
        : { name: rawName, namespace: '' }
      const key = namespace ? `{${namespace}}${name}` : name
      if (attributes.has(key)) this.#fail(`the attribute ${rawName} occurs twice`)
      attributes.set(key, value)
    }
    const element: XmlElement = { ...this.#resolveName(tag, ownNamespaces), attributes, children: [], line }
    return { element, tag, isEmpty, ownNamespaces }
  }

  #parseAttribute(): [name: string, value: string] {
    const name = this.#readName()
    this.#skipWhiteSpace()
    this.#expect('=')
    this.#skipWhiteSpace()
    const quote = this.#text[this.#position]
    if (quote !== '"' && quote !== "'") this.#fail(`the value of the attribute ${name} must be in quotation marks`)
    this.#position++
    const rawValue = this.#readUntil(quote!, `the value of the attribute ${name} is not closed`)
    if (rawValue.includes('<')) this.#fail(`"<" in the value of the attribute ${name}; write &lt;`)
    return [name, this.#resolveReferences(rawValue.replace(/[\t\n]/g, ' '))]
  }

  #parseText(): string {
    const end = this.#text.indexOf('<', this.#position)
    if (end < 0) this.#fail('an element is not closed at the end of the file')
    const rawText = this.#text.slice(this.#position, end)
    if (rawText.includes(']]>')) this.#fail('"]]>" outside a CDATA section')
    this.#position = end
    return this.#resolveReferences(rawText)
  }

  #resolveReferences(text: string): string {
    if (!text.includes('&')) return text
    return text.replace(/&([^;&]{0,40};?)/g, (_, reference: string) => {
      if (++this.#referenceCount > MAX_REFERENCES) this.#fail(`more than ${MAX_REFERENCES} references such as &amp;`)
      const [, code] = /^#(x[0-9a-fA-F]{1,6}|[0-9]{1,7});$/.exec(reference) ?? []
      if (code) {
        const number = Number(code.startsWith('x') ? `0${code}` : code)
        const character = number <= 0x10ffff ? String.fromCodePoint(number) : '\0'
        if (!INVALID_CHARACTER.test(character)) return character
      }
      const character = PREDEFINED_ENTITIES.get(reference.replace(/;$/, ''))
      if (character !== undefined && reference.endsWith(';')) return character
      // The text after "&" can be part of a question and is not repeated in the message.
      return this.#fail('unknown entity; write the character itself, or &amp; for "&"')
    })
  }

  #addText({ children }: XmlElement, text: string): void {
    if (text) children.push(text)
  }

  #resolveName(rawName: string, namespaces: Map<string, string>): { name: string; namespace: string } {
    const colon = rawName.indexOf(':')
    const prefix = colon < 0 ? '' : rawName.slice(0, colon)
    const namespace = namespaces.get(prefix)
    if (namespace === undefined) return this.#fail(`the prefix ${prefix.slice(0, 40)} is not declared`)
    return { name: rawName.slice(colon + 1), namespace }
  }

  #readName(): string {
    NAME.lastIndex = this.#position
    const name = NAME.exec(this.#text)?.[0]
    if (!name) return this.#fail('expected a name')
    this.#position += name.length
    return name
  }

  #readUntil(end: string, failure: string): string {
    const index = this.#text.indexOf(end, this.#position)
    if (index < 0) this.#fail(failure)
    const text = this.#text.slice(this.#position, index)
    this.#position = index + end.length
    return text
  }

  #skipWhiteSpace(): void {
    WHITE_SPACE.lastIndex = this.#position
    this.#position += WHITE_SPACE.exec(this.#text)![0].length
  }

  #expect(character: string): void {
    if (!this.#text.startsWith(character, this.#position)) this.#fail(`expected "${character}"`)
    this.#position += character.length
  }

  #line(): number {
    while (this.#nextLineEnd >= 0 && this.#nextLineEnd < this.#position) {
      this.#lineNumber++
      this.#nextLineEnd = this.#text.indexOf('\n', this.#nextLineEnd + 1)
    }
    return this.#lineNumber
  }

  #fail(message: string): never {
    throw new XmlError(message, this.#line())
  }
}
