import { writeZip } from '../../server/platform/zip.ts'

/** Questions whose words differ, so that they are not reported as duplicates. */
const TOPICS = [
  ['mortar joint', '10 mm', '25 mm', '40 mm', '55 mm'],
  ['damp course', 'Bitumen felt', 'Brown paper', 'Dry sand', 'Glass wool'],
  ['corner lead', 'Line and pins', 'Chalk and rope', 'Nails and tape', 'Wire and clips'],
  ['lintel bearing', '150 mm', '20 mm', '45 mm', '70 mm'],
  ['arch centre', 'Timber former', 'Steel bucket', 'Plastic sheet', 'Canvas bag'],
  ['weep hole', 'Lets water out', 'Holds the ties', 'Carries the floor', 'Warms the room'],
  ['English bond', 'Headers and stretchers', 'Soldiers and sailors', 'Closers and bats', 'Shiners and rowlocks'],
  ['scaffold board', 'Split ends', 'Dull colour', 'Long grain', 'Sharp edges'],
  ['cement bag', 'Dry raised platform', 'Wet open ground', 'Warm steam room', 'Shady garden pond'],
  ['frozen brick', 'Wait for a thaw', 'Add more cement', 'Wet the bricks', 'Raise the line'],
  ['efflorescence', 'Brush it off dry', 'Paint over it', 'Wash with oil', 'Cut the bricks'],
  ['gauge rod', 'Course heights', 'Wall colours', 'Brick weights', 'Room widths'],
  ['wall tie', 'Every 900 mm', 'Every 90 mm', 'Every 5 metres', 'Every 20 metres'],
  ['movement joint', 'Fill with sealant', 'Fill with gravel', 'Fill with plaster', 'Fill with cement'],
  ['bolster chisel', 'Cutting bricks', 'Mixing mortar', 'Lifting blocks', 'Pointing joints'],
] as const

export interface SampleItem {
  id: string
  stem: string
  key: string
  distractors: string[]
}

/** Returns items about bricklaying with the IDs q1, q2 and so on. */
export function sampleItems(count: number): SampleItem[] {
  return Array.from({ length: count }, (_, index) => {
    const [topic, key, ...distractors] = TOPICS[index % TOPICS.length]!
    const round = Math.floor(index / TOPICS.length)
    const site = round === 0 ? 'a house' : `site ${round} of the harbour`
    return {
      id: `q${index + 1}`,
      stem: `What do you choose for the ${topic} at ${site}?`,
      key,
      distractors: [...distractors],
    }
  })
}

const CSV_HEADER = 'skill,id,kind,difficulty,stem_en,key_en,distractor1_en,distractor2_en,distractor3_en'

/** Returns a CSV file with the items. */
export function itemsCsv(items: readonly SampleItem[], skill = 'sk_1001'): string {
  const rows = items.map(({ id, stem, key, distractors }) => [skill, id, '', 2, stem, key, ...distractors].join(','))
  return [CSV_HEADER, ...rows, ''].join('\n')
}

const QTI_NAMESPACE = 'http://www.imsglobal.org/xsd/imsqtiasi_v3p0'

/** Returns an item in QTI 3.0. */
export function itemXml({ id, stem, key, distractors }: SampleItem, language = 'en'): string {
  const choices = [distractors[0], key, ...distractors.slice(1)].map(
    (choice, index) => `<qti-simple-choice identifier="c${index}">${choice}</qti-simple-choice>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<qti-assessment-item xmlns="${QTI_NAMESPACE}" identifier="${id}" title="Item" xml:lang="${language}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier">
    <qti-correct-response><qti-value>c1</qti-value></qti-correct-response>
  </qti-response-declaration>
  <qti-item-body>
    <p>On a building site.</p>
    <qti-choice-interaction response-identifier="RESPONSE" max-choices="1">
      <qti-prompt>${stem}</qti-prompt>
      ${choices.join('\n      ')}
    </qti-choice-interaction>
  </qti-item-body>
</qti-assessment-item>
`
}

/** Returns a QTI 3.0 content package. `metadata` is the metadata of each item in the manifest. */
export function itemPackage(files: { name: string; xml: string }[], metadata = ''): Buffer {
  const resources = files.map(
    ({ name }, index) =>
      `<resource identifier="r${index}" type="imsqti_item_xmlv3p0" href="${name}">${metadata}<file href="${name}"/></resource>`,
  )
  const manifest = `<?xml version="1.0" encoding="UTF-8"?>
<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1" xmlns:lom="http://ltsc.ieee.org/xsd/LOM" identifier="m1">
<metadata><schema>QTI Package</schema><schemaversion>3.0.0</schemaversion></metadata><organizations/>
<resources>${resources.join('\n')}</resources></manifest>`
  return writeZip([
    { name: 'imsmanifest.xml', content: Buffer.from(manifest) },
    ...files.map(({ name, xml }) => ({ name, content: Buffer.from(xml) })),
  ])
}
