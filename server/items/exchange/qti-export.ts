import { hash } from 'node:crypto'
import type { AuthorDifficulty } from '../../measurement/model.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import { writeZip, type ZipFile } from '../../platform/zip.ts'
import type { ItemText } from '../../questions/skill-items.ts'
import type { ExportedItem } from './csv-items.ts'
import { UNSPECIFIED_KIND } from './item-draft.ts'
import { CATALOG_NAME, DIFFICULTY_NAMES, KIND_KEYWORD, NAMESPACES } from './qti-names.ts'

const SCHEMAS = 'https://purl.imsglobal.org/spec/qti/v3p0/schema/xsd'
const ITEM_SCHEMA = `${NAMESPACES.item} ${SCHEMAS}/imsqti_asiv3p0_v1p0.xsd`
const MANIFEST_SCHEMAS = [
  `${NAMESPACES.package} ${SCHEMAS}/imsqtiv3p0_imscpv1p2_v1p0.xsd`,
  `${NAMESPACES.lom} https://purl.imsglobal.org/spec/md/v1p3/schema/xsd/imsmd_loose_v1p3p2.xsd`,
].join(' ')
const MATCH_CORRECT = 'https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct'

/** Returns a QTI 3.0 content package that `readQtiPackage` reads as the same items. Each language of an item is a file. */
export function writeQtiPackage(items: readonly ExportedItem[]): Buffer {
  const files: ZipFile[] = []
  const resources: string[] = []
  for (const item of items)
    for (const language of LANGUAGES) {
      const text = item.texts[language]
      if (!text) continue
      const href = `items/${item.itemId}.${language}.xml`
      files.push({ name: href, content: Buffer.from(itemXml(item, language, text)) })
      resources.push(resourceXml(item, language, href))
    }
  return writeZip([{ name: 'imsmanifest.xml', content: Buffer.from(manifestXml(resources)) }, ...files])
}

function manifestXml(resources: string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<manifest xmlns="${NAMESPACES.package}" xmlns:lom="${NAMESPACES.lom}" xmlns:xsi="${NAMESPACES.xsi}" xsi:schemaLocation="${MANIFEST_SCHEMAS}" identifier="attestry-question-bank">
  <metadata>
    <schema>QTI Package</schema>
    <schemaversion>3.0.0</schemaversion>
  </metadata>
  <organizations/>
  <resources>
${resources.join('')}  </resources>
</manifest>
`
}

function resourceXml(
  { itemId, externalId, skillId, skillName, kind, difficulty }: ExportedItem,
  language: Language,
  href: string,
) {
  const keywords = [skillId, ...(kind === UNSPECIFIED_KIND ? [] : [KIND_KEYWORD + kind])]
  return `    <resource identifier="${itemId}.${language}" type="imsqti_item_xmlv3p0" href="${href}">
      <metadata>
        <lom:lom>
          <lom:general>
            <lom:identifier>
              <lom:catalog>${CATALOG_NAME}</lom:catalog>
              <lom:entry>${escapeXml(externalId ?? itemId)}</lom:entry>
            </lom:identifier>
            <lom:title>
              <lom:string language="en">${escapeXml(skillName)}</lom:string>
            </lom:title>
            <lom:language>${language}</lom:language>
${keywords
  .map(
    (keyword) => `            <lom:keyword>
              <lom:string language="en">${escapeXml(keyword)}</lom:string>
            </lom:keyword>
`,
  )
  .join('')}          </lom:general>
          <lom:educational>
            <lom:difficulty>
              <lom:source>LOMv1.0</lom:source>
              <lom:value>${difficultyName(difficulty)}</lom:value>
            </lom:difficulty>
          </lom:educational>
        </lom:lom>
      </metadata>
      <file href="${href}"/>
    </resource>
`
}

function difficultyName(difficulty: AuthorDifficulty): string {
  return [...DIFFICULTY_NAMES].findLast(([, each]) => each === difficulty)![0]
}

function itemXml({ itemId, skillName }: ExportedItem, language: Language, { stem, options }: ItemText): string {
  const [key, ...distractors] = options as [string, ...string[]]
  const keyPosition = positionOfKey(itemId, options.length)
  const choices = distractors.toSpliced(keyPosition, 0, key)
  return `<?xml version="1.0" encoding="UTF-8"?>
<qti-assessment-item xmlns="${NAMESPACES.item}" xmlns:xsi="${NAMESPACES.xsi}" xsi:schemaLocation="${ITEM_SCHEMA}" identifier="${itemId}.${language}" title="${escapeXml(skillName)}" xml:lang="${language}" tool-name="Attestry" adaptive="false" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier">
    <qti-correct-response>
      <qti-value>${choiceIdentifier(keyPosition)}</qti-value>
    </qti-correct-response>
  </qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float">
    <qti-default-value>
      <qti-value>0</qti-value>
    </qti-default-value>
  </qti-outcome-declaration>
  <qti-item-body>
    <qti-choice-interaction response-identifier="RESPONSE" shuffle="true" max-choices="1">
      <qti-prompt>${escapeXml(stem)}</qti-prompt>
${choices
  .map(
    (choice, index) =>
      `      <qti-simple-choice identifier="${choiceIdentifier(index)}">${escapeXml(choice)}</qti-simple-choice>\n`,
  )
  .join('')}    </qti-choice-interaction>
  </qti-item-body>
  <qti-response-processing template="${MATCH_CORRECT}"/>
</qti-assessment-item>
`
}

/** Returns the position of the key, which differs between items: some systems do not shuffle the choices. It is the same in all languages. */
function positionOfKey(itemId: string, optionCount: number): number {
  return hash('sha256', itemId, 'buffer').readUInt32BE() % optionCount
}

const choiceIdentifier = (index: number) => `choice_${index + 1}`

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
