import type { Detail } from '../../api/problem.ts'
import { normaliseText } from '../../catalogue/names.ts'
import type { AuthorDifficulty } from '../../measurement/model.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import { childElements, parseXml, readLargeXml, XML_NAMESPACE, type XmlElement, XmlError } from '../../platform/xml.ts'
import { ZipError, ZipReader } from '../../platform/zip.ts'
import {
  type Findings,
  type ItemDraft,
  MAX_DISTRACTORS,
  MAX_ITEMS_PER_IMPORT,
  MIN_DISTRACTORS,
  UNSPECIFIED_KIND,
} from './item-draft.ts'
import { CATALOG_NAME, DIFFICULTY_NAMES, KIND_KEYWORD, NAMESPACES } from './qti-names.ts'

/**
 * Items in QTI 3.0 (1EdTech Question and Test Interoperability): an XML file with one `qti-assessment-item`, or a content package with
 * `imsmanifest.xml`. An item has one `qti-choice-interaction` with one right choice. Skill, difficulty, kind and the ID that all languages
 * of an item share are in the metadata (IEEE LOM) of the manifest.
 */

const MAX_XML_BYTES = 64 * 1024
/** Elements and attributes of an item: far more than it needs. */
const MAX_ITEM_NODES = 2000
const MAX_PACKAGE_ENTRIES = 30_000
/** Each file of a package has at least this many compressed bytes, except for a few. An item has more than twice as many. */
const BYTES_PER_ENTRY = 200
const MIN_PACKAGE_ENTRIES_LIMIT = 500
const MAX_PACKAGE_BYTES = 32 * 1024 * 1024
/** XML is seldom compressed to less than a tenth. A package that expands more than this is hostile. */
const MAX_COMPRESSION_RATIO = 12
const MAX_MANIFEST_RATIO = 4
const MIN_PACKAGE_BYTES_LIMIT = 64 * 1024
/**
 * The allowed elements and attributes of a manifest grow with the size of the package and with its items, so that a file without
 * items is rejected before it costs time.
 */
const MIN_MANIFEST_NODES_LIMIT = 1500
const BYTES_PER_MANIFEST_NODE = 150
const MANIFEST_NODES_PER_ITEM = 100
/** Size of the files that are parsed before other requests get their turn. */
const BYTES_PER_SLICE = 32 * 1024
const MANIFEST_NAME = 'imsmanifest.xml'
const ITEM_TYPE = /^imsqti_item_xmlv3p0$/
const OTHER_ITEM_TYPE = /^imsqti_item_xmlv(\d+)p(\d+)/

/** The metadata of an item in the manifest. */
interface ItemMetadata {
  /** The position of the metadata, as in error messages. */
  path?: string
  skill?: string | undefined
  externalId?: string | undefined
  kind?: string | undefined
  difficulty?: AuthorDifficulty | undefined
}

/** One language of an item. */
interface QtiItem {
  path: string
  identifier: string
  language: Language
  stem: string
  /** Choices in the order of the file, by their identifier. */
  choices: Map<string, { text: string; line: number }>
  keyIdentifier: string
  stemLine: number
}

/** Reads one item. */
export function readQtiFile(
  bytes: Buffer,
  fileName: string,
  defaultSkill: string | undefined,
  findings: Findings,
): ItemDraft[] {
  const item = isTooLarge(bytes.length, fileName, findings) ? undefined : readItem(bytes, fileName, findings)
  return item ? combineLanguages([item], {}, defaultSkill) : []
}

/** Reads the items of a content package. */
export async function readQtiPackage(
  bytes: Buffer,
  fileName: string,
  defaultSkill: string | undefined,
  findings: Findings,
): Promise<ItemDraft[]> {
  try {
    const maxBytes = Math.min(MAX_PACKAGE_BYTES, MIN_PACKAGE_BYTES_LIMIT + MAX_COMPRESSION_RATIO * bytes.length)
    const maxEntries = Math.min(
      MAX_PACKAGE_ENTRIES,
      MIN_PACKAGE_ENTRIES_LIMIT + Math.floor(bytes.length / BYTES_PER_ENTRY),
    )
    const limits = { maxEntries, maxEntryBytes: maxBytes, maxTotalBytes: maxBytes }
    const zip = new ZipReader(bytes, limits)
    if (!zip.has(MANIFEST_NAME)) {
      const nested = zip.names.find((name) => name.endsWith(`/${MANIFEST_NAME}`))
      const advice = nested
        ? `${MANIFEST_NAME} is in a folder; create the ZIP file from the content of the folder`
        : `${MANIFEST_NAME} is missing; import a QTI 3.0 content package, a single item as XML, or a CSV file`
      findings.error(fileName, advice)
      return []
    }
    const maxManifestBytes = Math.min(MAX_PACKAGE_BYTES, MIN_PACKAGE_BYTES_LIMIT + MAX_MANIFEST_RATIO * bytes.length)
    if (zip.sizeOf(MANIFEST_NAME)! > maxManifestBytes)
      throw new ZipError(`${MANIFEST_NAME} is larger than ${maxManifestBytes.toLocaleString('en')} bytes`)
    return await readManifest(zip, bytes.length, defaultSkill, findings)
  } catch (error) {
    if (!(error instanceof ZipError)) throw error
    findings.error(fileName, error.message)
    return []
  }
}

function readXml(bytes: Buffer, path: string, findings: Findings): XmlElement | undefined {
  try {
    return parseXml(bytes, MAX_ITEM_NODES)
  } catch (error) {
    return reportXmlError(error, path, findings)
  }
}

function reportXmlError(error: unknown, path: string, findings: Findings): undefined {
  if (!(error instanceof XmlError)) throw error
  findings.error(`${path}, line ${error.line}`, error.message)
}

function requireManifest({ name, namespace, line }: XmlElement): void {
  if (name === 'manifest' && namespace === NAMESPACES.package) return
  throw new XmlError(
    `expected the element manifest in the namespace ${NAMESPACES.package}; export the package as QTI 3.0`,
    line,
  )
}

/** Reads the items while the manifest is parsed, so that reading ends soon if many of them have errors. */
async function readManifest(
  zip: ZipReader,
  packageBytes: number,
  defaultSkill: string | undefined,
  findings: Findings,
): Promise<ItemDraft[]> {
  const groups = new Map<string, { items: QtiItem[]; metadata: ItemMetadata }>()
  const readNames = new Set<string>()
  const maxNodesWithoutItems = MIN_MANIFEST_NODES_LIMIT + Math.floor(packageBytes / BYTES_PER_MANIFEST_NODE)
  let itemCount = 0
  let bytesInSlice = 0
  try {
    await readLargeXml(zip.read(MANIFEST_NAME), {
      name: 'resource',
      maxNodes: () => maxNodesWithoutItems + itemCount * MANIFEST_NODES_PER_ITEM,
      read(resource, root) {
        requireManifest(root)
        readResource(resource)
        const isSliceFull = bytesInSlice > BYTES_PER_SLICE
        if (isSliceFull) bytesInSlice = 0
        return isSliceFull
      },
    })
  } catch (error) {
    reportXmlError(error, MANIFEST_NAME, findings)
    return []
  }
  if (groups.size > MAX_ITEMS_PER_IMPORT) {
    findings.tooManyItems(MANIFEST_NAME)
    return []
  }
  if (groups.size === 0 && findings.errors.length === 0)
    findings.error(MANIFEST_NAME, 'the package contains no items of the type imsqti_item_xmlv3p0')
  return [...groups.values()].flatMap(({ items, metadata }) => combineLanguages(items, metadata, defaultSkill))

  function readResource(resource: XmlElement): void {
    const type = resource.attributes.get('type') ?? ''
    const path = `${MANIFEST_NAME}, line ${resource.line}`
    if (!ITEM_TYPE.test(type)) {
      const [, major, minor] = OTHER_ITEM_TYPE.exec(type) ?? []
      if (major) findings.error(path, `the item is in QTI ${major}.${minor}; export it as QTI 3.0`)
      return
    }
    const href = resolveHref(resource)
    if (href === undefined || !zip.has(href)) {
      findings.error(path, 'the file of the item is missing in the ZIP file; correct href, or add the file')
      return
    }
    if (readNames.has(href)) {
      findings.error(path, 'another resource has the same file; remove one of them')
      return
    }
    readNames.add(href)
    const size = zip.sizeOf(href)!
    bytesInSlice += size
    const item = isTooLarge(size, href, findings) ? undefined : readItem(zip.read(href), href, findings)
    if (!item) return
    itemCount++
    const metadata = { ...readMetadata(resource), path }
    const key = metadata.externalId ?? `${item.identifier}\n${item.path}`
    const group = groups.get(key)
    if (group) group.items.push(item)
    else groups.set(key, { items: [item], metadata })
  }
}

/** Returns the name of the item's file in the ZIP file. */
function resolveHref(resource: XmlElement): string | undefined {
  const href =
    resource.attributes.get('href') ??
    childElements(resource)
      .find(({ name }) => name === 'file')
      ?.attributes.get('href')
  try {
    return href && decodeURIComponent(href).replace(/^\.\//, '')
  } catch {
    return undefined
  }
}

function readMetadata(resource: XmlElement): ItemMetadata {
  const metadata = childElements(resource).find(({ name }) => name === 'metadata')
  if (!metadata) return {}
  const keywords = findAll(metadata, 'keyword').map(allText)
  // The IDs of curriculum standards are in the elements GUID and label.
  const standards = ['GUID', 'label'].flatMap((name) => findAll(metadata, name)).map(allText)
  const identifier = findAll(metadata, 'identifier').find((element) =>
    childElements(element).some((child) => child.name === 'catalog' && allText(child) === CATALOG_NAME),
  )
  const entry = identifier && childElements(identifier).find(({ name }) => name === 'entry')
  const difficulty = findAll(metadata, 'difficulty').flatMap((element) =>
    childElements(element).filter(({ name }) => name === 'value'),
  )[0]
  return {
    skill: [...keywords, ...standards].find((text) => /^sk_\d+$/.test(text)),
    externalId: (entry && allText(entry)) || undefined,
    kind: keywords.find((text) => text.startsWith(KIND_KEYWORD))?.slice(KIND_KEYWORD.length),
    difficulty: difficulty && difficultyOf(allText(difficulty)),
  }
}

/** Returns the difficulty for a value of the vocabulary of LOM. */
function difficultyOf(name: string): AuthorDifficulty | undefined {
  return DIFFICULTY_NAMES.get(name.toLowerCase())
}

/** Returns all descendants with this local name. */
function findAll(element: XmlElement, name: string): XmlElement[] {
  return childElements(element).flatMap((child) => [...(child.name === name ? [child] : []), ...findAll(child, name)])
}

/** Longer texts of metadata and values are cut. Without a limit, nested elements would be read again for each of their ancestors. */
const MAX_VALUE_LENGTH = 2000

function allText(element: XmlElement): string {
  let text = ''
  const collect = ({ children }: XmlElement): void => {
    for (const child of children) {
      if (text.length >= MAX_VALUE_LENGTH) return
      if (typeof child === 'string') text += child.slice(0, MAX_VALUE_LENGTH)
      else collect(child)
    }
  }
  collect(element)
  return normaliseText(text)
}

function isTooLarge(size: number, path: string, findings: Findings): boolean {
  if (size <= MAX_XML_BYTES) return false
  findings.error(path, `the file is larger than ${MAX_XML_BYTES / 1024} KB; an item is text only`)
  return true
}

function readItem(bytes: Buffer, path: string, findings: Findings): QtiItem | undefined {
  const root = readXml(bytes, path, findings)
  if (!root) return undefined
  const errorCount = findings.errors.length
  const item = new ItemReader(path, findings).read(root)
  return findings.errors.length === errorCount ? item : undefined
}

/** Elements whose text is part of the stem or an option, and that do not change its meaning. */
const TEXT_ELEMENTS = new Set(
  [
    'p',
    'div',
    'span',
    'br',
    'strong',
    'em',
    'b',
    'i',
    'u',
    'q',
    'cite',
    'code',
    'kbd',
    'samp',
    'abbr',
    'small',
    'bdi',
  ].concat('qti-prompt', 'qti-content-body'),
)
/** Elements that separate words. */
const BLOCK_ELEMENTS = new Set(['p', 'div', 'br', 'qti-prompt'])

class ItemReader {
  readonly #path: string
  readonly #findings: Findings

  constructor(path: string, findings: Findings) {
    this.#path = path
    this.#findings = findings
  }

  read(root: XmlElement): QtiItem | undefined {
    if (root.name !== 'qti-assessment-item' || root.namespace !== NAMESPACES.item)
      return this.#fail(
        root,
        `expected the element qti-assessment-item in the namespace ${NAMESPACES.item}; export the item as QTI 3.0`,
      )
    const identifier = root.attributes.get('identifier')
    if (!identifier) this.#fail(root, 'the attribute identifier is missing; add it')
    if (root.attributes.get('adaptive') === 'true')
      this.#fail(root, 'adaptive items are not supported; remove the attribute adaptive, or the item')
    const languageTag = root.attributes.get(`{${XML_NAMESPACE}}lang`) ?? 'en'
    const language = LANGUAGES.find((each) => each === languageTag.toLowerCase().split('-')[0])
    if (!language)
      this.#fail(root, `the language in xml:lang is not supported; supported languages: ${LANGUAGES.join(', ')}`)
    const body = childElements(root).find(({ name }) => name === 'qti-item-body')
    if (!body) return this.#fail(root, 'the element qti-item-body is missing; add it with the question and the choices')
    const interactions = findAll(body, 'qti-choice-interaction')
    const other = this.#findOtherInteraction(body)
    if (other) return this.#fail(other, `${other.name} is not supported; use one qti-choice-interaction`)
    const [interaction] = interactions
    if (!interaction || interactions.length > 1)
      return this.#fail(body, `expected one qti-choice-interaction, found ${interactions.length}`)
    // From here on, the errors of the parts do not depend on each other: all of them are reported.
    const maxChoices = interaction.attributes.get('max-choices') ?? '1'
    if (maxChoices !== '1') this.#fail(interaction, 'max-choices must be 1: an item has one right answer')
    const keyIdentifier = this.#readKey(root, interaction)
    const choices = this.#readChoices(interaction)
    if (keyIdentifier !== undefined && choices && !choices.has(keyIdentifier))
      this.#fail(interaction, 'the right answer in qti-correct-response is not the identifier of a choice')
    const { stem, stemLine } = this.#readStem(body, interaction)
    if (!stem) this.#fail(interaction, 'the question is missing; write it in qti-prompt')
    if (!identifier || !language || !choices || keyIdentifier === undefined) return undefined
    return { path: this.#path, identifier, language, stem, stemLine, choices, keyIdentifier }
  }

  #findOtherInteraction(body: XmlElement): XmlElement | undefined {
    for (const child of childElements(body)) {
      if (child.name.endsWith('-interaction') && child.name !== 'qti-choice-interaction') return child
      const nested = this.#findOtherInteraction(child)
      if (nested) return nested
    }
    return undefined
  }

  #readKey(root: XmlElement, interaction: XmlElement): string | undefined {
    const responseIdentifier = interaction.attributes.get('response-identifier')
    const declaration = childElements(root).find(
      ({ name, attributes }) =>
        name === 'qti-response-declaration' && attributes.get('identifier') === responseIdentifier,
    )
    if (!declaration)
      return this.#fail(interaction, 'there is no qti-response-declaration with the identifier in response-identifier')
    if (
      declaration.attributes.get('cardinality') !== 'single' ||
      declaration.attributes.get('base-type') !== 'identifier'
    )
      return this.#fail(declaration, 'expected cardinality="single" and base-type="identifier"')
    const values = childElements(declaration)
      .filter(({ name }) => name === 'qti-correct-response')
      .flatMap(childElements)
      .filter(({ name }) => name === 'qti-value')
    if (values.length !== 1)
      return this.#fail(declaration, `expected one qti-value in qti-correct-response, found ${values.length}`)
    return allText(values[0]!)
  }

  #readChoices(interaction: XmlElement): QtiItem['choices'] | undefined {
    const elements = childElements(interaction).filter(({ name }) => name === 'qti-simple-choice')
    const [min, max] = [MIN_DISTRACTORS + 1, MAX_DISTRACTORS + 1]
    if (elements.length < min || elements.length > max)
      return this.#fail(interaction, `expected ${min} to ${max} choices, found ${elements.length}`)
    const choices: QtiItem['choices'] = new Map()
    for (const element of elements) {
      const identifier = element.attributes.get('identifier')
      if (!identifier) this.#fail(element, 'the attribute identifier is missing; add it')
      else if (choices.has(identifier)) this.#fail(element, 'two choices have the same identifier; change one of them')
      const text = normaliseText(this.#textOf(element))
      if (!text) this.#fail(element, 'the choice has no text; write the answer')
      if (identifier) choices.set(identifier, { text, line: element.line })
    }
    return choices
  }

  /** Reads the text of the body before the choices, and of the prompt. */
  #readStem(body: XmlElement, interaction: XmlElement): { stem: string; stemLine: number } {
    const prompt = childElements(interaction).find(({ name }) => name === 'qti-prompt')
    const before = this.#textBefore(body, interaction)
    const promptText = prompt ? this.#textOf(prompt) : ''
    return { stem: normaliseText(`${before} ${promptText}`), stemLine: (prompt ?? interaction).line }
  }

  #textBefore(element: XmlElement, interaction: XmlElement): string {
    let text = ''
    let isAfter = false
    for (const child of element.children) {
      if (child === interaction) {
        isAfter = true
      } else if (typeof child === 'string') {
        if (isAfter && child.trim())
          this.#fail(interaction, 'text after the choices is not supported; move it to the front')
        else text += child
      } else if (contains(child, interaction)) {
        text += this.#textBefore(child, interaction)
        isAfter = true
      } else if (isAfter) {
        this.#fail(child, 'text after the choices is not supported; move it before them')
      } else text += ` ${this.#textOfElement(child)} `
    }
    return text
  }

  #textOf({ children }: XmlElement): string {
    return children.map((child) => (typeof child === 'string' ? child : this.#textOfElement(child))).join('')
  }

  #textOfElement(element: XmlElement): string {
    if (!TEXT_ELEMENTS.has(element.name)) {
      this.#fail(element, `the element ${element.name.slice(0, 40)} is not supported; questions are text only`)
      return ''
    }
    const text = this.#textOf(element)
    return BLOCK_ELEMENTS.has(element.name) ? ` ${text} ` : text
  }

  #fail({ line }: XmlElement, message: string): undefined {
    this.#findings.error(`${this.#path}, line ${line}`, message)
    return undefined
  }
}

function contains(element: XmlElement, searched: XmlElement): boolean {
  return childElements(element).some((child) => child === searched || contains(child, searched))
}

/**
 * Combines the languages of an item. The choices of all languages are matched by their identifiers. Returns one draft, with the errors of
 * languages that do not match; these are left out.
 */
function combineLanguages(items: QtiItem[], metadata: ItemMetadata, defaultSkill: string | undefined): [ItemDraft] {
  const [first] = items as [QtiItem]
  const errors: Detail[] = []
  if (!metadata.skill && !defaultSkill)
    errors.push({
      path: first.path,
      message:
        'the skill is missing; write its ID, such as sk_1001, as a keyword in the metadata of the manifest, or choose a skill for the import',
    })
  const distractorIdentifiers = [...first.choices.keys()].filter((identifier) => identifier !== first.keyIdentifier)
  const texts: ItemDraft['texts'] = {}
  const usedItems = new Map<Language, QtiItem>()
  for (const item of items) {
    const hasSameChoices =
      item.keyIdentifier === first.keyIdentifier &&
      item.choices.size === first.choices.size &&
      distractorIdentifiers.every((identifier) => item.choices.has(identifier))
    if (!hasSameChoices) {
      const message = `the choices have other identifiers than those of ${first.path}, which is the same item; use the same ones`
      errors.push({ path: item.path, message })
    } else if (texts[item.language]) {
      const message = `the item has two files in the language ${item.language}; remove one of them`
      errors.push({ path: item.path, message })
    } else {
      const options = [first.keyIdentifier, ...distractorIdentifiers].map(
        (identifier) => item.choices.get(identifier)!.text,
      )
      texts[item.language] = { stem: item.stem, options }
      usedItems.set(item.language, item)
    }
  }
  const draft: ItemDraft = {
    path: first.path,
    skill: metadata.skill,
    externalId: metadata.externalId ?? first.identifier,
    kind: metadata.kind ?? UNSPECIFIED_KIND,
    difficulty: metadata.difficulty ?? 2,
    texts,
    errors,
    locate(language, part) {
      const item = usedItems.get(language)!
      const identifier = part === 0 ? first.keyIdentifier : distractorIdentifiers[Number(part) - 1]!
      return `${item.path}, line ${part === 'stem' ? item.stemLine : item.choices.get(identifier)!.line}`
    },
    locateField: (field) =>
      field === 'id' && metadata.externalId === undefined ? first.path : (metadata.path ?? first.path),
  }
  return [draft]
}
