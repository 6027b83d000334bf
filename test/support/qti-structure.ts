import { childElements, parseXml, XML_NAMESPACE, type XmlElement } from '../../server/platform/xml.ts'
import { ZipReader } from '../../server/platform/zip.ts'

/**
 * Checks a content package against the structure that the QTI 3.0 specification requires: namespaces, order and number of elements,
 * required and allowed attributes, identifiers and enumerations. The rules are written down from the published specification (QTI 3.0
 * ASI information model and binding; IMS CP 1.2 profile for QTI 3.0; IEEE LOM), and only for the elements that an export uses: any other
 * element or attribute is a problem. No rule is laxer than the XSD and the Schematron rules of 1EdTech, which are not part of the
 * repository; many are stricter, because an export uses one form.
 */

interface ElementRule {
  /** Children in their order, as `name`, `name?`, `name*` or `name+`. */
  children?: string[]
  /** Whether the element contains text. */
  text?: boolean
  required?: Record<string, RegExp>
  optional?: Record<string, RegExp>
}

const ITEM = 'http://www.imsglobal.org/xsd/imsqtiasi_v3p0'
const PACKAGE = 'http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1'
const LOM = 'http://ltsc.ieee.org/xsd/LOM'
const SCHEMA_LOCATION = '{http://www.w3.org/2001/XMLSchema-instance}schemaLocation'

const ANY = /^/
const TEXT = /\S/
/** An identifier of any element: an xs:NCName of ASCII characters. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_.-]*$/
/** Pairs of a namespace and an address. */
const SCHEMA_LOCATIONS = /^\S+ \S+(?: \S+ \S+)*$/
const BOOLEAN = /^(?:true|false)$/
const LANGUAGE = /^[a-z]{2}$/

const RULES: Record<string, Record<string, ElementRule>> = {
  [ITEM]: {
    'qti-assessment-item': {
      children: ['qti-response-declaration', 'qti-outcome-declaration', 'qti-item-body', 'qti-response-processing'],
      required: { identifier: IDENTIFIER, title: ANY, 'time-dependent': BOOLEAN },
      optional: {
        adaptive: BOOLEAN,
        'tool-name': TEXT,
        [`{${XML_NAMESPACE}}lang`]: LANGUAGE,
        [SCHEMA_LOCATION]: SCHEMA_LOCATIONS,
      },
    },
    'qti-response-declaration': {
      children: ['qti-correct-response?'],
      required: { identifier: IDENTIFIER, cardinality: /^single$/, 'base-type': /^identifier$/ },
    },
    'qti-correct-response': { children: ['qti-value+'] },
    'qti-outcome-declaration': {
      children: ['qti-default-value?'],
      required: { identifier: IDENTIFIER, cardinality: /^single$/, 'base-type': /^float$/ },
    },
    'qti-default-value': { children: ['qti-value+'] },
    'qti-value': { text: true },
    'qti-item-body': { children: ['qti-choice-interaction'] },
    'qti-choice-interaction': {
      children: ['qti-prompt?', 'qti-simple-choice+'],
      required: { 'response-identifier': IDENTIFIER },
      // A Schematron rule requires that it is 1 if the cardinality is single.
      optional: { shuffle: BOOLEAN, 'max-choices': /^1$/ },
    },
    'qti-prompt': { text: true },
    'qti-simple-choice': { text: true, required: { identifier: IDENTIFIER } },
    'qti-response-processing': {
      required: {},
      optional: { template: /^https:\/\/purl\.imsglobal\.org\/spec\/qti\/v3p0\/rptemplates\/match_correct$/ },
    },
  },
  [PACKAGE]: {
    manifest: {
      children: ['metadata', 'organizations', 'resources'],
      required: { identifier: IDENTIFIER },
      optional: { [SCHEMA_LOCATION]: SCHEMA_LOCATIONS },
    },
    organizations: {},
    schema: { text: true },
    schemaversion: { text: true },
    resources: { children: ['resource*'] },
    resource: {
      children: ['metadata?', 'file+'],
      required: { identifier: IDENTIFIER, type: /^imsqti_item_xmlv3p0$/ },
      optional: { href: TEXT },
    },
    file: { required: { href: TEXT } },
  },
  [LOM]: {
    lom: { children: ['general?', 'educational?'] },
    general: { children: ['identifier*', 'title?', 'language*', 'keyword*'] },
    identifier: { children: ['catalog?', 'entry?'] },
    catalog: { text: true },
    entry: { text: true },
    title: { children: ['string+'] },
    keyword: { children: ['string+'] },
    string: { text: true, optional: { language: LANGUAGE } },
    language: { text: true },
    educational: { children: ['difficulty?'] },
    difficulty: { children: ['source', 'value'] },
    source: { text: true },
    value: { text: true },
  },
}

/** The element metadata has other children in the manifest than in a resource. */
const METADATA_CHILDREN: Record<string, string[]> = { manifest: ['schema', 'schemaversion'], resource: ['lom?'] }

/** Returns the violations of the structure. */
export function validateQtiPackage(bytes: Buffer): string[] {
  const zip = new ZipReader(bytes, { maxEntries: 10_000, maxEntryBytes: 1e7, maxTotalBytes: 1e8 })
  const problems: string[] = []
  const manifest = parseXml(zip.read('imsmanifest.xml'))
  if (manifest.name !== 'manifest' || manifest.namespace !== PACKAGE) problems.push('the root of the manifest is wrong')
  checkElement(manifest, '', 'imsmanifest.xml', problems)
  if (problems.length > 0) return problems
  const [metadata, , resources] = childElements(manifest)
  const [schema, version] = childElements(metadata!).map(({ children }) => children.join(''))
  if (schema !== 'QTI Package' || version !== '3.0.0') problems.push(`schema ${schema} ${version}`)
  const hrefs = new Set<string>()
  // Both are of the type xs:ID, which is unique in the file.
  const identifiers = new Set([manifest.attributes.get('identifier')!])
  for (const resource of childElements(resources!)) {
    const href = resource.attributes.get('href')!
    const fileHref = childElements(resource).at(-1)!.attributes.get('href')
    if (fileHref !== href) problems.push(`the file of ${href} is ${fileHref}`)
    if (identifiers.has(resource.attributes.get('identifier')!)) problems.push(`the identifier of ${href} occurs twice`)
    identifiers.add(resource.attributes.get('identifier')!)
    hrefs.add(href)
    if (zip.has(href)) checkItem(parseXml(zip.read(href)), href, problems)
    else problems.push(`${href} is missing`)
  }
  for (const name of zip.names)
    if (name !== 'imsmanifest.xml' && !hrefs.has(name)) problems.push(`${name} is not in the manifest`)
  return problems
}

function checkItem(item: XmlElement, path: string, problems: string[]): void {
  if (item.name !== 'qti-assessment-item' || item.namespace !== ITEM) problems.push(`${path}: wrong root element`)
  const problemCount = problems.length
  checkElement(item, '', path, problems)
  if (problems.length > problemCount) return
  const find = (element: XmlElement, name: string): XmlElement[] =>
    childElements(element).flatMap((child) => [...(child.name === name ? [child] : []), ...find(child, name)])
  const [declaration] = find(item, 'qti-response-declaration')
  const [interaction] = find(item, 'qti-choice-interaction')
  if (declaration!.attributes.get('identifier') !== interaction!.attributes.get('response-identifier'))
    problems.push(`${path}: the interaction has no response declaration`)
  const choices = find(item, 'qti-simple-choice').map(({ attributes }) => attributes.get('identifier'))
  if (new Set(choices).size !== choices.length) problems.push(`${path}: a choice identifier occurs twice`)
  const correct = find(declaration!, 'qti-value').map(({ children }) => children.join(''))
  if (correct.length !== 1 || !choices.includes(correct[0])) problems.push(`${path}: the correct response is no choice`)
}

function checkElement(element: XmlElement, parent: string, path: string, problems: string[]): void {
  const fail = (message: string) => problems.push(`${path}, line ${element.line}: ${element.name} ${message}`)
  const isMetadata = element.namespace === PACKAGE && element.name === 'metadata'
  const rule = isMetadata ? { children: METADATA_CHILDREN[parent]! } : RULES[element.namespace]?.[element.name]
  if (!rule) return void fail('is unknown')
  const { children = [], text = false, required = {}, optional = {} }: ElementRule = rule
  for (const [name, pattern] of Object.entries(required))
    if (!pattern.test(element.attributes.get(name) ?? '')) fail(`lacks a valid ${name}`)
  for (const [name, value] of element.attributes) {
    const pattern = required[name] ?? optional[name]
    if (!pattern) fail(`has the unknown attribute ${name}`)
    else if (!pattern.test(value)) fail(`has an invalid ${name}`)
  }
  const content = element.children.filter((child) => typeof child === 'string').join('')
  if (text ? !TEXT.test(content) : TEXT.test(content)) fail(text ? 'is empty' : 'contains text')
  const pattern = children.map((child) => child.replace(/^([^?*+]+)([?*+]?)$/, '(?:$1 )$2')).join('')
  const names = childElements(element).map(({ name }) => `${name} `)
  if (!new RegExp(`^${pattern}$`).test(names.join('')))
    fail(`has the children ${names.join('')}, expected ${children.join(', ')}`)
  for (const child of childElements(element)) checkElement(child, element.name, path, problems)
}
