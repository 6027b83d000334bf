import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { CONSOLE_API, signIn, signInMember } from '../../test/support/console.ts'
import { itemPackage, itemsCsv, itemXml, type SampleItem, sampleItems } from '../../test/support/item-files.ts'
import { insertOwnItems } from '../../test/support/item-responses.ts'
import { createPartner } from '../../test/support/partners.ts'
import { findQtiSchemaErrors, qtiSchemaSkipReason } from '../../test/support/qti-schema.ts'
import { validateQtiPackage } from '../../test/support/qti-structure.ts'
import { until } from '../../test/support/until.ts'
import { rotateDataKey } from '../platform/data-key-rotation.ts'
import { writeZip, ZipReader } from '../platform/zip.ts'
import { ITEM_CHECKS, type ItemCheck } from '../questions/checks.ts'
import { sealedColumns } from '../sealed-columns.ts'
import { findRetiredItems, listOwnItems } from './item-store.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const partner = await createPartner(app)
  const importText = (content: string, extra: object = {}) =>
    partner.post('/items/import', { file_name: 'items.csv', content, ...extra })
  const importOk = async (content: string, extra: object = {}) => {
    const response = await importText(content, extra)
    assert.equal(response.status, 200, JSON.stringify(response.body))
    const { items, added, replaced, updated, unchanged, pilot } = response.body.data
    return { items, added, replaced, updated, unchanged, pilot, warnings: response.body.data.warnings }
  }
  const listItems = async () => (await partner.get('/items?limit=100')).body.data.items
  return { app, partner, importText, importOk, listItems }
}

const counts = (added: number, replaced: number, updated: number, unchanged: number, pilot = 0) => ({
  items: added + replaced + updated + unchanged,
  added,
  replaced,
  updated,
  unchanged,
  pilot,
})

async function assertImported(result: Promise<{ warnings: unknown }>, expected: object) {
  const { warnings: _, ...rest } = await result
  assert.deepEqual(rest, expected)
}

test('items are imported from CSV, and importing them again changes nothing', async () => {
  const { partner, importOk, importText, listItems } = await setUp()
  const dryRun = await importText(itemsCsv(sampleItems(12)), { dry_run: true })
  assert.deepEqual([dryRun.status, dryRun.body.data.added, dryRun.body.data.dry_run], [200, 12, true])
  assert.deepEqual(await listItems(), [])
  const response = await importText(itemsCsv(sampleItems(12)))
  assert.deepEqual(response.body.data.skills, [
    { skill_id: 'sk_1001', name: response.body.data.skills[0].name, active: 12, pilot: 0, measurable: true },
  ])
  await assertImported(importOk(itemsCsv(sampleItems(12))), counts(0, 0, 0, 12))
  const items = await listItems()
  assert.equal(items.length, 12)
  const { item_id, created_at, updated_at, skill_name, ...first } = items[0]
  assert.match(item_id, /^IT_/)
  assert.ok(skill_name && created_at === updated_at)
  assert.deepEqual(first, {
    external_id: 'q1',
    skill_id: 'sk_1001',
    source: 'private',
    kind: 'unspecified',
    languages: ['en'],
    status: 'active',
    retirement_reason: null,
    difficulty: 0,
    responses: 0,
    proportion_correct: null,
    discrimination: null,
    median_seconds: null,
  })
  const { items: skills } = (await partner.get('/items/skills')).body.data
  assert.deepEqual(skills, [
    { skill_id: 'sk_1001', name: skill_name, active: 12, pilot: 0, retired: 0, measurable: true },
  ])
})

test('a skill can be given by its exact name, and by the parameter', async () => {
  const { app, importOk, listItems } = await setUp()
  const { name } = app.context.catalogue.current.skill(1001)!
  await assertImported(importOk(itemsCsv(sampleItems(1), name.toUpperCase())), counts(1, 0, 0, 0))
  await assertImported(importOk(itemsCsv(sampleItems(2).slice(1), ''), { skill_id: 'sk_1002' }), counts(1, 0, 0, 0))
  assert.deepEqual(
    (await listItems()).map(({ skill_id }: any) => skill_id),
    ['sk_1001', 'sk_1002'],
  )
})

test('an item with a changed text gets a new ID, and keeps its ID if only other fields or languages are added', async () => {
  const { app, partner, importOk, listItems } = await setUp()
  await importOk(itemsCsv(sampleItems(3)))
  const before = await listItems()
  const changed = sampleItems(3)
  changed[1]!.key = 'Roofing slate'
  await assertImported(importOk(itemsCsv(changed)), counts(0, 1, 0, 2))
  const after = await listItems()
  assert.equal(after.length, 3)
  const idOf = (items: any[], externalId: string) => items.find(({ external_id }) => external_id === externalId).item_id
  assert.equal(idOf(before, 'q1'), idOf(after, 'q1'))
  assert.notEqual(idOf(before, 'q2'), idOf(after, 'q2'))
  const withDifficulty = itemsCsv(changed).replace('q1,,2', 'q1,tool,3')
  const statistics = { responses: 40, correct_share: 0.75, discrimination: 0.3, median_seconds: 12 }
  await app.context.db.pool.query('update skill_items set statistics = $1 where org_id = $2', [
    statistics,
    partner.orgId,
  ])
  await assertImported(importOk(withDifficulty), counts(0, 0, 1, 2))
  const [header, ...rows] = withDifficulty.trim().split('\n')
  const hindi = ',stem_hi,key_hi,distractor1_hi,distractor2_hi,distractor3_hi'
  const hindiCells = ',दीवार के जोड़ के लिए आप क्या चुनते हैं?,दस मिमी,बीस मिमी,तीस मिमी,चालीस मिमी'
  const bilingual = [header + hindi, rows[0] + hindiCells, ...rows.slice(1)].join('\n')
  await assertImported(importOk(bilingual), counts(0, 0, 1, 2))
  const [first] = (await listItems()).filter(({ external_id }: any) => external_id === 'q1')
  assert.deepEqual([first.item_id, first.kind, first.languages], [idOf(before, 'q1'), 'tool', ['en', 'hi']])
  assert.deepEqual([first.responses, first.proportion_correct, first.median_seconds], [40, 0.75, 12])
  // Removing a language changes what people see.
  await assertImported(importOk(withDifficulty), counts(0, 1, 0, 2))
})

test('items can exchange their texts, and are found by their item ID', async () => {
  const { importOk, listItems } = await setUp()
  await importOk(itemsCsv(sampleItems(2)))
  const [first, second] = sampleItems(2) as [SampleItem, SampleItem]
  await assertImported(
    importOk(
      itemsCsv([
        { ...second, id: 'q1' },
        { ...first, id: 'q2' },
      ]),
    ),
    counts(0, 2, 0, 0),
  )
  const { importOk: importOther, listItems: listOther } = await setUp()
  await importOther(itemsCsv([{ ...first, id: '' }]))
  const [{ item_id, external_id }] = await listOther()
  assert.equal(external_id, null)
  await assertImported(importOther(itemsCsv([{ ...first, id: item_id }])), counts(0, 0, 0, 1))
  await assertImported(importOther(itemsCsv([{ ...first, id: item_id, key: '12 mm' }])), counts(0, 1, 0, 0))
  assert.deepEqual(
    (await listOther()).map((item: any) => item.external_id),
    [null],
  )
  // An ID can be added later.
  await assertImported(importOther(itemsCsv([{ ...first, id: 'own', key: '12 mm' }])), counts(0, 0, 1, 0))
  assert.deepEqual((await listItems()).length, 2)
})

test('items start as pilot items if the skill has enough other active items', async () => {
  const { importOk, listItems } = await setUp()
  await assertImported(importOk(itemsCsv(sampleItems(11))), counts(11, 0, 0, 0, 0))
  // Before this import there are 11 active items, so all items of the import are scored.
  await assertImported(importOk(itemsCsv(sampleItems(13))), counts(2, 0, 0, 11, 0))
  await assertImported(importOk(itemsCsv(sampleItems(15))), counts(2, 0, 0, 13, 2))
  const reworded = sampleItems(15).map((item, index) => (index < 1 ? { ...item, key: '11 mm' } : item))
  await assertImported(importOk(itemsCsv(reworded)), counts(0, 1, 0, 14, 1))
  // If fewer than 12 active items remain, the new texts are scored.
  const allReworded = sampleItems(15).map((item) => ({ ...item, stem: item.stem.replace('choose', 'select') }))
  await assertImported(importOk(itemsCsv(allReworded)), counts(0, 15, 0, 0, 0))
  assert.ok((await listItems()).every(({ status }: any) => status === 'active'))
})

test('a skill has at most 500 items, not counting retired ones', async () => {
  const { app, partner, importText, importOk } = await setUp()
  const ids = Array.from({ length: 500 }, (_, index) => `IT_${partner.orgId.slice(4)}_${index}`)
  await insertOwnItems(app, { orgId: partner.orgId, skillNumber: 1001, ids })
  await app.context.db.pool.query(`update skill_items set status = 'retired' where item_id = $1`, [ids[0]])
  const rejected = await importText(itemsCsv(sampleItems(2)))
  assert.equal(rejected.status, 400)
  assert.match(JSON.stringify(rejected.body.error.details), /would have 501 items; the maximum is 500/)
  assert.equal((await importOk(itemsCsv(sampleItems(1)))).items, 1)
})

test('an import does not change items that were written by AI', async () => {
  const { app, partner, importOk } = await setUp()
  const id = `IT_${partner.orgId.slice(4)}_AI`
  await insertOwnItems(app, { orgId: partner.orgId, skillNumber: 1001, ids: [id], source: 'ai' })
  const [item] = sampleItems(1)
  await assertImported(importOk(itemsCsv([{ ...item!, id }])), counts(1, 0, 0, 0))
  const { rows } = await app.context.db.pool.query(
    'select source, status from skill_items where org_id = $1 order by source',
    [partner.orgId],
  )
  assert.deepEqual(rows, [
    { source: 'ai', status: 'active' },
    { source: 'private', status: 'active' },
  ])
})

test('every error is reported with its position and advice, and nothing is stored', async () => {
  const { importText, listItems } = await setUp()
  const [valid] = sampleItems(1) as [SampleItem]
  const row = (change: Partial<SampleItem> & { skill?: string; difficulty?: string; kind?: string }) => {
    const { skill = 'sk_1001', id, kind = '', difficulty = '2', stem, key, distractors } = { ...valid, ...change }
    return [skill, id, kind, difficulty, stem, key, ...distractors].join(',')
  }
  const header = itemsCsv([]).trim()
  const errorsOf = async (...rows: string[]) => {
    const response = await importText([header, ...rows].join('\n'))
    assert.deepEqual(
      [response.status, response.body.error?.code],
      [400, 'VALIDATION_FAILED'],
      JSON.stringify(response.body),
    )
    return response.body.error.details.map(({ path, message }: any) => `${path}: ${message}`)
  }
  const structureErrors = await errorsOf(
    row({ id: 'a' }),
    row({ id: 'b', skill: '', stem: 'What do you choose for a wall of a shed?' }),
    row({ id: 'c', difficulty: '4', stem: 'What do you choose for a wall of a barn?' }),
    row({ id: 'd', stem: '' }),
    row({ id: 'e', distractors: ['25 mm', '', '55 mm'] }),
    row({ id: 'f', distractors: ['25 mm', '40 mm', '55 mm', '70 mm'] }),
    'sk_1001,g,,2,,,,,',
  )
  assert.deepEqual(structureErrors, [
    'items.csv, line 3, column skill: the skill is missing; write its ID, such as sk_1001, or its exact name',
    'items.csv, line 4, column difficulty: the difficulty must be 1 (easy), 2 (medium) or 3 (difficult)',
    'items.csv, line 5, column stem_en: the question is missing; write it',
    'items.csv, line 6, column distractor2_en: the wrong answer is missing; at least 3 are required',
    'items.csv, line 7: the row has more cells than the header; put cells that contain commas in quotation marks',
    'items.csv, line 8: the row has no question; fill in at least one language, or delete the row',
  ])
  const contentErrors = await errorsOf(
    row({ id: 'a', distractors: ['25 mm', '10 MM', '55 mm'] }),
    row({ id: 'b', distractors: ['25 mm', '40 mm', 'All of the above'] }),
    row({ id: 'c', stem: `What is ${'very '.repeat(50)}long?` }),
    row({ id: 'd', kind: 'riddle', stem: `What is a${'\u0327'.repeat(1200)}1 for a wall of a house?` }),
    row({ id: 'e', skill: 'sk_999999' }),
    row({ id: 'e', stem: 'Which joint is the right one for a wall of a shed?' }),
    row({ id: 'x'.repeat(101), stem: 'दीवार के जोड़ के लिए आप क्या चुनते हैं भाई?' }),
    row({ id: 'f', skill: 'No such skill', stem: 'Which joint is the right one for a barn?' }),
  )
  assert.deepEqual(
    contentErrors.map((text: string) => text.slice(0, 90)),
    [
      'items.csv, line 2, column distractor2_en: the answer is the same as another one; replace it',
      'items.csv, line 3, column distractor3_en: an option refers to other options ("all of the above"); ',
      'items.csv, line 4, column stem_en: the question has 263 characters; the maximum is 200',
      'items.csv, line 5, column kind: unknown kind; leave it empty, or use one of fault, tool, material, sett',
      'items.csv, line 5, column stem_en: the question has too many combining characters; remove them',
      'items.csv, line 6, column skill: unknown skill sk_999999; write an ID such as sk_1001, or the exact name',
      'items.csv, line 7, column id: the ID is also used by items.csv, line 6; each item needs its own',
      'items.csv, line 8, column id: the ID must have at most 100 printable characters',
      'items.csv, line 8, column stem_en: most letters are not in the script of the language; che',
      'items.csv, line 9, column skill: unknown skill; write an ID such as sk_1001, or the exact name',
    ].map((text) => text.slice(0, 90)),
  )
  assert.deepEqual(await errorsOf(row({ id: 'a' }), row({ id: 'b' })), [
    'items.csv, line 3: the text is the same as that of items.csv, line 2; remove one of them',
  ])
  assert.deepEqual(await listItems(), [])
})

test('an error in one cell hides no other error of the file', async () => {
  const { importText } = await setUp()
  const csv = itemsCsv(sampleItems(3)).split('\n')
  csv[1] = 'sk_999999,q1,riddle,9,,10 mm,,All of the above,10 MM'
  csv[3] = csv[3]!.replace('sk_1001', 'sk_999998')
  const { body } = await importText(csv.join('\n'))
  assert.equal(body.error.message, 'The file has 8 errors; see `details`.')
  assert.deepEqual(
    body.error.details.map(({ path, message }: any) => `${path}: ${message}`.slice(0, 68)),
    [
      'items.csv, line 2, column difficulty: the difficulty must be 1 (easy), 2 (medium) or 3',
      'items.csv, line 2, column stem_en: the question is missing; write it',
      'items.csv, line 2, column distractor1_en: the wrong answer is missing; at least 3',
      'items.csv, line 2, column kind: unknown kind; leave it empty, or use one',
      'items.csv, line 2, column distractor3_en: the answer is the same as another one',
      'items.csv, line 2, column distractor2_en: an option refers to other options',
      'items.csv, line 2, column skill: unknown skill sk_999999; write an ID such as',
      'items.csv, line 4, column skill: unknown skill sk_999998; write an ID such as',
    ].map((text) => text.slice(0, 68)),
  )
  const unknownDefault = await importText(itemsCsv(sampleItems(3), ''), { skill_id: 'sk_999999' })
  assert.match(unknownDefault.body.error.message, /^skill_id: unknown skill sk_999999; write an ID/)
  const broken = itemXml(sampleItems(1)[0]!)
    .replace('xml:lang="en"', 'xml:lang="fr"')
    .replace('max-choices="1"', 'max-choices="2"')
    .replace('>c1<', '>c9<')
    .replace(/(<qti-simple-choice identifier="c3">).*?</, '$1<')
  const xml = await importText(broken, { file_name: 'q.xml', skill_id: 'sk_1001' })
  assert.deepEqual(
    xml.body.error.details.map(({ message }: any) => message.slice(0, 40)),
    [
      'the language in xml:lang is not supported; supported',
      'max-choices must be 1: an item has one right answer',
      'the choice has no text; write the answer',
      'the right answer in qti-correct-response is not',
    ].map((text) => text.slice(0, 40)),
  )
})

test('a file with many errors gets their number and the first 100', async () => {
  const { importText } = await setUp()
  const { status, body } = await importText(itemsCsv(sampleItems(130)).replaceAll(',2,What', ',9,What'))
  assert.equal(status, 400)
  assert.equal(body.error.message, 'The file has 130 errors, of which the first 100 are listed; see `details`.')
  assert.equal(body.error.details.length, 100)
  assert.equal(body.error.details.at(-1).path, 'items.csv, line 101, column difficulty')
})

test('errors in the metadata of a QTI package are located in the manifest', async () => {
  const { partner } = await setUp()
  const keyword = (text: string) => `<lom:keyword><lom:string>${text}</lom:string></lom:keyword>`
  const metadata = `<metadata><lom:lom><lom:general>${keyword('sk_999999')}${keyword('kind:riddle')}</lom:general></lom:lom></metadata>`
  const content_base64 = itemPackage([{ name: 'q.xml', xml: itemXml(sampleItems(1)[0]!) }], metadata).toString('base64')
  const { body } = await partner.post('/items/import', { file_name: 'items.zip', content_base64 })
  assert.deepEqual(
    body.error.details.map(({ path, message }: any) => `${path}: ${message.split(';')[0]}`),
    ['imsmanifest.xml, line 4: unknown kind', 'imsmanifest.xml, line 4: unknown skill sk_999999'],
  )
})

test('a file is read before the transaction of the import', async () => {
  const { app, partner } = await setUp()
  const { pool } = app.context.db
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table skills')
    const body = { file_name: 'items.csv', content: itemsCsv(sampleItems(1)) }
    const importing = partner.post('/items/import', body, { idempotencyKey: 'import-1' })
    const waiting = await until(async () => {
      const { rows } = await pool.query(`select pid from pg_locks where relation = 'skills'::regclass and not granted`)
      return rows[0]
    })
    // A transaction would hold the lock of the Idempotency-Key while the skills of the file are looked up.
    const { rows: advisoryLocks } = await pool.query(
      `select * from pg_locks where locktype = 'advisory' and pid = $1`,
      [waiting.pid],
    )
    assert.deepEqual(advisoryLocks, [])
    await client.query('commit')
    assert.equal((await importing).status, 200)
  } finally {
    client.release(true)
  }
  const invalid = { file_name: 'items.csv', content: itemsCsv(sampleItems(1), 'sk_999999') }
  const [first, second] = [
    await partner.post('/items/import', invalid, { idempotencyKey: 'import-2' }),
    await partner.post('/items/import', invalid, { idempotencyKey: 'import-2' }),
  ]
  assert.deepEqual([first.status, second.status], [400, 400])
  assert.deepEqual(second.body.error.details, first.body.error.details)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
})

test('broken CSV files are rejected', async () => {
  const { importText } = await setUp()
  const messageOf = async (content: string, extra: object = {}) => {
    const { status, body } = await importText(content, extra)
    assert.equal(status, 400, content.slice(0, 100))
    return body.error.message
  }
  const csv = itemsCsv(sampleItems(1))
  assert.match(await messageOf(csv.replace('What', '"What')), /unclosed quotation mark|middle of a cell/)
  assert.match(await messageOf(csv.replaceAll(',', ';')), /separated by semicolons; save the file with commas/)
  assert.match(await messageOf(csv.split('\n')[1]!), /first line must contain the column names/)
  assert.match(await messageOf(csv.split('\n')[0]!), /contains no items/)
  assert.match(await messageOf(csv.replace('key_en', 'keey_en')), /unknown column keey_en; did you mean key_en\?/)
  assert.match(await messageOf(csv.replace('key_en', 'key_fr')), /language of the column key_fr is not supported/)
  assert.match(await messageOf(csv.replace('kind', 'id')), /the column id appears more than once/)
  assert.match(await messageOf(csv.replace('difficulty', '')), /the column difficulty is missing/)
  const { partner } = await setUp()
  const base64Error = async (bytes: Buffer | string) => {
    const content_base64 = typeof bytes === 'string' ? bytes : bytes.toString('base64')
    const { status, body } = await partner.post('/items/import', { file_name: 'f', content_base64 })
    assert.equal(status, 400)
    return body.error.message
  }
  assert.match(await base64Error(Buffer.from(csv, 'utf16le')), /not a text file in UTF-8/)
  assert.match(await base64Error(Buffer.from(csv.replace('house', 'hôuse'), 'latin1')), /not encoded in UTF-8/)
  assert.match(await base64Error('***'), /content_base64: must be base64/)
  const both = await partner.post('/items/import', { file_name: 'f', content: csv, content_base64: 'eA==' })
  assert.match(both.body.error.message, /send either content or content_base64/)
  const tooLarge = await partner.post('/items/import', { file_name: 'f', content: csv.repeat(4000) })
  assert.deepEqual([tooLarge.status, tooLarge.body.error.code], [413, 'PAYLOAD_TOO_LARGE'])
})

test('the checks of own items reject and warn as documented', async () => {
  const { importText } = await setUp()
  const [valid, other] = sampleItems(3).slice(1) as [SampleItem, SampleItem]
  /** For each check, an item that is rejected because of it, and one with a warning. */
  const examples: Record<ItemCheck | 'duplicate', { rejected?: Partial<SampleItem>; warned?: Partial<SampleItem> }> = {
    'four different options': { rejected: { distractors: ['Bitumen Felt.', 'Dry sand', 'Glass wool'] } },
    'one key': { rejected: { key: '' } },
    'all or none of the above': { rejected: { distractors: ['Brown paper', 'Dry sand', 'None of the above'] } },
    'absolute word': { warned: { distractors: ['Brown paper', 'Only sand', 'Glass wool'] } },
    'key longest by far': { warned: { key: 'Bitumen roofing' } },
    'key echoes the stem': { warned: { key: 'Damp felt' } },
    'options of one kind': { rejected: { key: 'Bitumen\u0007 felt' }, warned: { key: 'bitumen felt' } },
    'options of one length': {
      rejected: { key: 'Bitumen '.repeat(11) },
      warned: { distractors: ['Brown paper sheets', 'Dry sand', 'Glass wool'] },
    },
    'negative stem': { warned: { stem: 'What do you not choose for the damp course?' } },
    stem: { rejected: { stem: '' }, warned: { stem: 'Choose the material for the damp course.' } },
    'reading level': { warned: { stem: `What do you choose for ${'the sill and '.repeat(10)} the damp course?` } },
    language: { rejected: { stem: 'दीवार के जोड़ के लिए आप क्या चुनते हैं भाई?' } },
    duplicate: { rejected: {}, warned: { stem: `${valid.stem.slice(0, -1)} today?` } },
  }
  const page = await readFile(new URL('../../docs/reference/question-bank.md', import.meta.url), 'utf8')
  const section = /### Checks of own items\n(.*?)\n## /s.exec(page)![1]!
  const rows = [...section.matchAll(/^\| (\S[^|]*?) +\| (.*?) *\|$/gm)]
    .slice(2)
    .map(([, check, rule]) => [check!, rule!])
  assert.deepEqual(rows.map(([check]) => check).sort(), [...ITEM_CHECKS, 'duplicate'].sort())
  for (const [check, rule] of rows) {
    const { rejected, warned } = examples[check as ItemCheck]
    assert.deepEqual([/reject/.test(rule!), /warn/.test(rule!)], [Boolean(rejected), Boolean(warned)], check)
    for (const [change, status] of [
      [rejected, 400],
      [warned, 200],
    ] as const) {
      if (!change) continue
      const items = [{ ...valid, ...change, id: 'x' }, other, ...(check === 'duplicate' ? [valid] : [])]
      const { status: actualStatus, body } = await importText(itemsCsv(items), { dry_run: true })
      assert.deepEqual([check, actualStatus], [check, status], JSON.stringify(body))
      if (status === 200) assert.equal(body.data.warnings.length, 1, `${check}: ${JSON.stringify(body.data.warnings)}`)
    }
  }
  const clean = await importText(itemsCsv([valid, other]), { dry_run: true })
  assert.deepEqual(clean.body.data.warnings, [])
})

test('the example of the guide is imported without warnings', async () => {
  const { importOk } = await setUp()
  const guide = await readFile(new URL('../../docs/guides/use-your-own-questions.md', import.meta.url), 'utf8')
  const [, example] = /```csv\n(.*?)```/s.exec(guide)!
  assert.deepEqual(await importOk(example!), { ...counts(1, 0, 0, 0), warnings: [] })
})

test('weak items are imported with warnings', async () => {
  const { importOk } = await setUp()
  const [item, other] = sampleItems(2) as [SampleItem, SampleItem]
  const echo = { ...item, key: 'A mortar bed', distractors: ['A cotton rope', 'A wooden bar', 'A paper bag'] }
  const nearDuplicate = { ...other, id: 'q3', stem: `${other.stem.slice(0, -1)} today?` }
  const { warnings } = await importOk(itemsCsv([echo, other, nearDuplicate]))
  assert.deepEqual(
    warnings.map(({ path, message }: any) => `${path}: ${message}`.slice(0, 80)),
    [
      'items.csv, line 2, column key_en: a word of the question occurs only in the right answer',
      'items.csv, line 4: asks nearly the same question as items.csv, line 3; keep only one of them',
    ].map((text) => text.slice(0, 80)),
  )
})

test('a QTI item and a QTI package are imported', async () => {
  const { app, partner, importText, listItems } = await setUp()
  const [first, second] = sampleItems(2) as [SampleItem, SampleItem]
  const withoutSkill = await importText(itemXml(first), { file_name: 'q1.xml' })
  assert.match(withoutSkill.body.error.message, /^q1\.xml: the skill is missing/)
  const withDefault = itemXml(first).replace(
    '<qti-correct-response>',
    '<qti-default-value><qti-value>c2</qti-value></qti-default-value><qti-correct-response>',
  )
  const single = await importText(withDefault, { file_name: 'q1.xml', skill_id: 'sk_1001' })
  assert.equal(single.status, 200, JSON.stringify(single.body))
  const metadata = `<metadata><lom:lom><lom:general><lom:keyword><lom:string>sk_1002</lom:string></lom:keyword></lom:general>
    <lom:educational><lom:difficulty><lom:source>LOMv1.0</lom:source><lom:value>very difficult</lom:value></lom:difficulty></lom:educational></lom:lom></metadata>`
  const content_base64 = itemPackage([{ name: 'items/a b.xml', xml: itemXml(second) }], metadata).toString('base64')
  const zipped = await partner.post('/items/import', { file_name: 'items.zip', content_base64 })
  assert.equal(zipped.status, 200, JSON.stringify(zipped.body))
  const otherId = `<lom:identifier><lom:catalog>ISBN</lom:catalog><lom:entry>978-1</lom:entry></lom:identifier>`
  const ownId = otherId.replace('ISBN', 'attestry').replace('978-1', 'q2')
  const withIds = metadata.replace('<lom:general>', `<lom:general>${otherId}${ownId}`)
  const renamed = itemPackage([{ name: 'b.xml', xml: itemXml({ ...second, id: 'b' }) }], withIds).toString('base64')
  const again = await partner.post('/items/import', { file_name: 'items.zip', content_base64: renamed })
  assert.equal(again.body.data?.unchanged, 1, JSON.stringify(again.body))
  const byStandard = metadata
    .replace(
      /<lom:general>.*<\/lom:general>/,
      '<curriculumStandardsMetadataSet><GUID>sk_1003</GUID></curriculumStandardsMetadataSet>',
    )
    .replace('very difficult', 'Very Easy')
  const standards = itemPackage([{ name: 'q3.xml', xml: itemXml({ ...second, id: 'q3' }) }], byStandard)
  const fromStandard = await partner.post('/items/import', {
    file_name: 'standards.zip',
    content_base64: standards.toString('base64'),
  })
  assert.equal(fromStandard.status, 200, JSON.stringify(fromStandard.body))
  assert.deepEqual(
    (await listItems()).map(({ external_id, skill_id, difficulty }: any) => [external_id, skill_id, difficulty]),
    [
      ['q1', 'sk_1001', 0],
      ['q2', 'sk_1002', 0.8],
      ['q3', 'sk_1003', -0.8],
    ],
  )
  const [set] = await listOwnItems(app.context.db.queries, app.context.vault, partner.orgId, 1001)
  assert.equal(set!.items.length, 1, 'no items of other skills')
  assert.deepEqual(set!.items[0]!.texts, {
    en: { stem: `On a building site. ${first.stem}`, options: [first.key, ...first.distractors] },
  })
})

test('broken and hostile XML is rejected', async () => {
  const { importText } = await setUp()
  const xml = itemXml(sampleItems(1)[0]!)
  const messageOf = async (content: string) => {
    const { status, body } = await importText(content, { file_name: 'q.xml', skill_id: 'sk_1001' })
    assert.equal(status, 400, content.slice(0, 200))
    return body.error.message
  }
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
  const withDoctype = (doctype: string) => xml.replace(declaration, declaration + doctype)
  for (const doctype of [
    '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
    '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
    '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1/x"> %p;]>',
  ])
    assert.match(
      await messageOf(withDoctype(doctype)),
      /^q\.xml, line 2: a document type declaration \(DOCTYPE\) is not allowed/,
    )
  assert.match(await messageOf(xml.replace('What', '&what;')), /line 9: unknown entity/)
  assert.match(await messageOf(xml.replace('</qti-prompt>', '')), /expected <\/qti-prompt>/)
  assert.match(await messageOf(xml.slice(0, 300)), /not closed/)
  assert.match(await messageOf(xml.replace('UTF-8', 'ISO-8859-1')), /encoding ISO-8859-1 is not supported/)
  assert.match(await messageOf(xml.replace('What', `${'<div>'.repeat(100)}What`)), /nested more than 64 levels/)
  assert.match(await messageOf(xml.replace('_v3p0', '_v2p1')), /export the item as QTI 3\.0/)
  assert.match(await messageOf(xml.replace('max-choices="1"', 'max-choices="0"')), /max-choices must be 1/)
  assert.match(await messageOf(xml.replace('>c1<', '>c9<')), /is not the identifier of a choice/)
  assert.match(await messageOf(xml.replace('cardinality="single"', 'cardinality="multiple"')), /cardinality="single"/)
  assert.match(
    await messageOf(xml.replace('<p>On', '<p><img src="a.png" alt=""/>On')),
    /the element img is not supported/,
  )
  assert.match(await messageOf(xml.replace('c2"', 'c0"')), /two choices have the same identifier/)
  assert.match(await messageOf(xml.replace('xml:lang="en"', 'xml:lang="fr"')), /language in xml:lang is not supported/)
  assert.match(
    await messageOf(xml.replaceAll('choice-interaction', 'order-interaction')),
    /qti-order-interaction is not supported/,
  )
  assert.match(
    await messageOf(xml.replace(/<qti-simple-choice identifier="c3".*\n/, '')),
    /expected 4 to 6 choices, found 3/,
  )
})

test('broken and hostile ZIP files are rejected', async () => {
  const { partner } = await setUp()
  const xml = itemXml(sampleItems(1)[0]!)
  const messageOf = async (bytes: Buffer) => {
    const body = { file_name: 'items.zip', content_base64: bytes.toString('base64'), skill_id: 'sk_1001' }
    const response = await partner.post('/items/import', body)
    assert.equal(response.status, 400, JSON.stringify(response.body))
    return response.body.error.message
  }
  const valid = itemPackage([{ name: 'q.xml', xml }])
  assert.match(await messageOf(valid.subarray(0, valid.length - 30)), /incomplete/)
  assert.match(
    await messageOf(Buffer.from(valid.toString('latin1').replaceAll('imsmanifest.xml', '../../x/../y.z'), 'latin1')),
    /damaged|incomplete/,
  )
  assert.match(
    await messageOf(Buffer.from(valid.toString('latin1').replaceAll('imsmanifest.xml', '../manifest.xml'), 'latin1')),
    /is not allowed/,
  )
  assert.match(
    await messageOf(Buffer.from(valid.toString('latin1').replaceAll('imsmanifest.xml', 'imsmanifest.txt'), 'latin1')),
    /imsmanifest\.xml is missing/,
  )
  assert.match(
    await messageOf(itemPackage([{ name: 'q.xml', xml: xml.padEnd(70_000, ' ') }])),
    /q\.xml: the file is larger than 64 KB/,
  )
  // 20 MB of spaces in a few KB.
  assert.match(
    await messageOf(itemPackage([{ name: 'q.xml', xml: xml.padEnd(20_000_000, ' ') }])),
    /the files of the ZIP file are larger than/,
  )
  const bomb = itemPackage([{ name: 'q.xml', xml: xml.padEnd(5_000_000, ' ') }])
  // The directory declares a smaller size than the content has.
  const declared = bomb.lastIndexOf(Buffer.from('q.xml')) - 46 + 24
  bomb.writeUInt32LE(1000, declared)
  assert.match(await messageOf(bomb), /q\.xml is damaged/)
  // Otherwise a small package could have one large item read many thousand times.
  const resource = '<resource type="imsqti_item_xmlv3p0" href="q.xml"/>'
  const manifest = `<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1">${resource.repeat(2)}</manifest>`
  const repeated = writeZip([
    { name: 'imsmanifest.xml', content: Buffer.from(manifest) },
    { name: 'q.xml', content: Buffer.from(xml) },
  ])
  assert.match(await messageOf(repeated), /another resource has the same file/)
  const damaged = Buffer.from(valid)
  damaged[damaged.indexOf('q.xml') + 20]! ^= 0xff
  assert.match(await messageOf(damaged), /q\.xml is damaged/)
})

test('items are stored sealed, and no response contains their text', async () => {
  const { app, partner, importText } = await setUp()
  const { db } = app.context
  const items = sampleItems(3).map((item) => ({ ...item, stem: item.stem.replace('house', 'zzsecretzz house') }))
  const responses = [
    await partner.post(
      '/items/import',
      { file_name: 'a.csv', content: itemsCsv(items) },
      { idempotencyKey: 'import-1' },
    ),
    await importText(itemsCsv(items)),
    await importText(itemsCsv([...items, { ...items[0]!, id: 'other' }])),
    await importText(`${itemsCsv(items)}sk_1001,x,,2,zzsecretzz`),
    await importText(itemsCsv(items).split('\n').slice(1).join('\n')),
    await partner.get('/items'),
    await partner.get('/items/skills'),
    await partner.delete(`/items/${(await partner.get('/items')).body.data.items[0].item_id}`),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 400, 400, 400, 200, 200, 200],
  )
  for (const { body } of responses) assert.doesNotMatch(JSON.stringify(body), /zzsecretzz/i)
  const tables = await db.pool.query(
    `select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  for (const { table_name } of tables.rows) {
    const { rows } = await db.pool.query(
      `select count(*)::integer as count from "${table_name}" as t where t::text ilike '%zzsecretzz%' or t::text like '%${Buffer.from('zzsecretzz').toString('hex')}%'`,
    )
    assert.equal(rows[0].count, 0, table_name)
  }
  assert.ok(app.logLines.every((line) => !line.includes('zzsecretzz')))
})

test('items can be read after a rotation of the data key, and are then still recognised', async (t) => {
  const app = await startApp(t)
  const { context } = app
  const partner = await createPartner(app)
  const content = itemsCsv(sampleItems(3).map((item) => ({ ...item, id: '' })))
  await partner.post('/items/import', { file_name: 'a.csv', content })
  await rotateDataKey({ ...context, masterKey: context.config.masterKey!, columns: sealedColumns, waitTimeoutMs: 5000 })
  await context.vault.reload()
  const [set] = await listOwnItems(context.db.queries, context.vault, partner.orgId, 1001)
  assert.equal(set!.items[0]!.texts.en!.stem, sampleItems(1)[0]!.stem)
  const response = await partner.post('/items/import', { file_name: 'a.csv', content })
  assert.equal(response.body.data.unchanged, 3, JSON.stringify(response.body))
})

test('the bank belongs to an organisation, both modes share it, and writing requires the scope', async () => {
  const { app, partner, importOk } = await setUp()
  await importOk(itemsCsv(sampleItems(2)))
  const testKey = await createPartner(app, 'test', partner.orgId)
  const { items } = (await testKey.get('/items')).body.data
  assert.equal(items.length, 2)
  const other = await createPartner(app)
  assert.deepEqual((await other.get('/items')).body.data.items, [])
  assert.equal((await other.delete(`/items/${items[0].item_id}`)).status, 404)
  // Another organisation can use the same IDs and texts.
  const otherImport = await other.post('/items/import', { file_name: 'a.csv', content: itemsCsv(sampleItems(2)) })
  assert.equal(otherImport.body.data.added, 2)
  const reader = app.as(
    await app.fixtures.createPartnerKey(partner.orgId, { scopes: ['items:read', 'mandates:write'] }),
  )
  const rejected = await reader.post('/items/import', { file_name: 'a.csv', content: itemsCsv(sampleItems(2)) })
  assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'SCOPE_MISSING'])
  assert.equal((await reader.delete(`/items/${items[0].item_id}`)).status, 403)
  assert.equal((await reader.get('/items')).status, 200)
})

test('a deleted item is not asked any more, also in mandates that were prepared with it', async () => {
  const { app, partner, importOk, listItems } = await setUp()
  await importOk(itemsCsv(sampleItems(2)))
  const [first] = await listItems()
  const response = await partner.delete(`/items/${first.item_id}`)
  assert.deepEqual([response.status, response.body.data.item_id], [200, first.item_id])
  assert.equal((await partner.delete(`/items/${first.item_id}`)).status, 404)
  assert.deepEqual((await listItems()).length, 1)
  assert.ok((await findRetiredItems(app.context.db.queries, [1001])).has(first.item_id))
  // Imported again, it is a new item.
  await assertImported(importOk(itemsCsv(sampleItems(2))), counts(1, 0, 0, 1))
  assert.ok((await listItems()).every(({ item_id }: any) => item_id !== first.item_id))
})

test('a repeated import with the same Idempotency-Key returns the stored response', async () => {
  const { partner } = await setUp()
  const send = () =>
    partner.post('/items/import', { file_name: 'a.csv', content: itemsCsv(sampleItems(1)) }, { idempotencyKey: 'k' })
  const first = await send()
  const second = await send()
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(second.body, first.body)
  assert.equal(first.body.data.added, 1)
})

test('a retired item stays retired when it is imported again', async () => {
  const { app, importOk, listItems } = await setUp()
  await importOk(itemsCsv(sampleItems(2)))
  const [first] = await listItems()
  await app.context.db.pool.query(
    `update skill_items set status = 'retired', retirement_reason = 'leaked', retired_at = now() where item_id = $1`,
    [first.item_id],
  )
  const { warnings, unchanged } = await importOk(itemsCsv(sampleItems(2)))
  assert.equal(unchanged, 2)
  assert.match(warnings.at(-1).message, /retired and stays retired/)
  const reworded = sampleItems(2).map((item) => ({ ...item, stem: item.stem.replace('choose', 'select') }))
  await assertImported(importOk(itemsCsv(reworded)), counts(0, 2, 0, 0))
  assert.ok((await listItems()).every(({ status }: any) => status === 'active'))
})

/** Errors that a strict importer rejects. `inSchema` is false if a Schematron rule finds the error, which xmllint does not check. */
const QTI_ERRORS = [
  { name: 'a manifest without organizations', from: /<organizations\/>/, to: '', inSchema: true },
  { name: 'an unknown version', from: /3\.0\.0/, to: '3.0', inSchema: true },
  { name: 'an unknown type of resource', from: /imsqti_item_xmlv3p0/, to: 'imsqti_item_xmlv2p1', inSchema: true },
  {
    name: 'a resource with the ID of the manifest',
    from: /(<resource identifier=")[^"]+/,
    to: '$1attestry-question-bank',
    inSchema: true,
  },
  {
    name: 'an item identifier that starts with a digit',
    from: /(asiv3p0_v1p0\.xsd" identifier=")/,
    to: '$11',
    inSchema: true,
  },
  { name: 'an item without time-dependent', from: / time-dependent="false"/, to: '', inSchema: true },
  { name: 'an unknown base type', from: /base-type="identifier"/, to: 'base-type="choice"', inSchema: true },
  { name: 'a choice without an identifier', from: / identifier="choice_2"/, to: '', inSchema: true },
  {
    name: 'a prompt after the choices',
    from: /( *<qti-prompt>.*\n)((?:.*<qti-simple-choice.*\n)+)/,
    to: '$2$1',
    inSchema: true,
  },
  { name: 'several choices for a single response', from: /max-choices="1"/, to: 'max-choices="4"', inSchema: false },
]

/** Returns the package with a replacement in the first file that contains the text. */
function replaceInZip(bytes: Buffer, from: RegExp, to: string): Buffer {
  const zip = new ZipReader(bytes, { maxEntries: 100, maxEntryBytes: 1e6, maxTotalBytes: 1e7 })
  const files = zip.names.map((name) => ({ name, content: zip.read(name).toString() }))
  const file = files.find(({ content }) => from.test(content))!
  file.content = file.content.replace(from, to)
  return writeZip(files.map(({ name, content }) => ({ name, content: Buffer.from(content) })))
}

test('an export contains the same items, and the QTI package has the structure of the specification', async (t) => {
  const { app, partner, importOk, listItems } = await setUp()
  const header =
    'skill,id,kind,difficulty,stem_en,key_en,distractor1_en,distractor2_en,distractor3_en,distractor4_en,stem_hi,key_hi,distractor1_hi,distractor2_hi,distractor3_hi,distractor4_hi'
  const rows = [
    'sk_1001,"a & b <1>",fault,1,"Which ""key"", of A & B < C, is right here?",+5 V,-5 V,=1+1,@home,\'quoted,दीवार के जोड़ के लिए आप क्या चुनते हैं?,दस,बीस,तीस,चालीस,पचास',
    'sk_1002,,,3,"What do you do first, when a wall leans over?",Prop it up,Paint it,Wash it,Photograph it,,,,,,,',
    'sk_1002,h1,tool,2,,,,,,,गारा मिलाने के लिए आप क्या लेते हैं भाई?,फावड़ा,हथौड़ा,आरी,रंदा,',
  ]
  await assertImported(importOk([header, ...rows].join('\n')), counts(3, 0, 0, 0))
  await assertImported(importOk(itemsCsv(sampleItems(15))), counts(15, 0, 0, 0))
  const itemsBefore = await listItems()
  const owner = await signInMember(app, partner.orgId, 'owner')
  const download = async (format: string) => {
    const response = await fetch(`${app.url}${CONSOLE_API}/orgs/${partner.orgId}/live/items/export?format=${format}`, {
      headers: { cookie: owner.cookie },
    })
    assert.equal(response.status, 200)
    return Buffer.from(await response.arrayBuffer())
  }
  const files = { csv: await download('csv'), qti: await download('qti') }
  const problems = validateQtiPackage(files.qti)
  assert.deepEqual(problems, [])
  const brokenPackages = QTI_ERRORS.map(({ from, to, ...error }) => ({
    ...error,
    bytes: replaceInZip(files.qti, from, to),
  }))
  for (const { name, bytes } of brokenPackages) assert.notDeepEqual(validateQtiPackage(bytes), [], name)
  await t.test('and is valid according to the XSD files of QTI 3.0', { skip: qtiSchemaSkipReason() }, () => {
    assert.deepEqual(findQtiSchemaErrors(files.qti), [])
    for (const { name, bytes, inSchema } of brokenPackages)
      if (inSchema) assert.notDeepEqual(findQtiSchemaErrors(bytes), [], name)
  })
  for (const bytes of Object.values(files)) {
    const body = { file_name: 'export', content_base64: bytes.toString('base64') }
    const again = (await partner.post('/items/import', body)).body
    assert.equal(again.data?.unchanged, 18, JSON.stringify(again))
    // In another organisation, the items are the same.
    const other = await createPartner(app)
    assert.equal((await other.post('/items/import', body)).body.data.added, 18)
    const textsOf = async (orgId: string) => {
      const sets = await Promise.all(
        [1001, 1002].map((number) => listOwnItems(app.context.db.queries, app.context.vault, orgId, number)),
      )
      return sets
        .flat()
        .flatMap(({ items }) => items.map(({ kind, difficulty, texts }) => JSON.stringify([kind, difficulty, texts])))
        .sort()
    }
    assert.deepEqual(await textsOf(other.orgId), await textsOf(partner.orgId))
  }
  assert.deepEqual(await listItems(), itemsBefore)
  const zip = new ZipReader(files.qti, { maxEntries: 100, maxEntryBytes: 1e6, maxTotalBytes: 1e7 })
  const keyPositions = zip.names
    .filter((name) => name.startsWith('items/'))
    .map((name) => /<qti-value>(choice_\d)/.exec(zip.read(name).toString())![1])
  assert.ok(new Set(keyPositions).size >= 3, `the key is not always at the same position: ${keyPositions}`)
})

test('in the console, owners import and export, other members and operators do not see texts', async () => {
  const { app, partner } = await setUp()
  const path = `/orgs/${partner.orgId}/live`
  const owner = await signInMember(app, partner.orgId, 'owner')
  const upload = async (user: typeof owner, query: string, body: string) =>
    app.fetch(`${CONSOLE_API}${path}/items/upload?${query}`, {
      method: 'POST',
      headers: { cookie: user.cookie, 'x-csrf-token': user.csrf, 'content-type': 'application/octet-stream' },
      body,
    })
  const csv = itemsCsv(sampleItems(12))
  const preview = await upload(owner, 'file_name=items.csv&dry_run=true', csv)
  assert.deepEqual([preview.status, preview.body.data.added], [200, 12])
  assert.deepEqual((await owner.get(`${path}/items`)).body.data.items, [])
  const invalidUpload = await upload(owner, 'file_name=items.csv', csv.replace('sk_1001', 'nonsense'))
  assert.deepEqual([invalidUpload.status, invalidUpload.body.error.details.length], [400, 1])
  assert.equal((await upload(owner, 'file_name=items.csv', csv)).body.data.added, 12)
  const { body } = await owner.get(`/orgs/${partner.orgId}/audit`)
  assert.deepEqual(body.data.items[0].action, 'items.import')
  assert.doesNotMatch(JSON.stringify(body), /mortar/)
  for (const role of ['viewer', 'recruiter'] as const) {
    const member = await signInMember(app, partner.orgId, role)
    assert.equal((await member.get(`${path}/items`)).body.data.items.length, 12)
    assert.equal((await upload(member, 'file_name=items.csv', csv)).status, 403)
    assert.equal((await member.get(`${path}/items/export?format=csv`)).status, 403)
  }
  const operator = await signIn(app)
  assert.equal((await operator.get(`${path}/items/export?format=csv`)).status, 403)
  const outsider = await signInMember(app, (await app.fixtures.createOrg()).orgId, 'owner')
  assert.equal((await outsider.get(`${path}/items/export?format=csv`)).status, 404)
  assert.equal((await owner.get(`${path}/items/export?format=csv`)).status, 200)
  const { body: log } = await owner.get(`/orgs/${partner.orgId}/audit`)
  assert.deepEqual([log.data.items[0].action, log.data.items[0].details.items], ['items.export', 12])
})

test('skills that are asked from the built-in bank are named, until the organisation has enough items', async () => {
  const { app, partner, importOk } = await setUp()
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const publicSkills = async () =>
    (await viewer.get(`/orgs/${partner.orgId}/live/item-sources?skill_ids=sk_1001,sk_999999`)).body.data
      .public_bank_skill_ids
  assert.deepEqual(await publicSkills(), ['sk_1001'])
  await importOk(itemsCsv(sampleItems(11)))
  assert.deepEqual(await publicSkills(), ['sk_1001'])
  await importOk(itemsCsv(sampleItems(12)))
  assert.deepEqual(await publicSkills(), [])
})

test('new mandates use the questions of the organisation, and do not show them', async () => {
  const { app, partner, importOk } = await setUp()
  const otherPartner = await createPartner(app)
  await importOk(itemsCsv(sampleItems(12)))
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  for (const { scope, get } of [partner, otherPartner]) {
    const { mandate_id } = await app.fixtures.createMandate(scope, { skills })
    const { body } = await get(`/mandates/${mandate_id}`)
    const [skill] = body.data.questions.skills
    assert.equal(skill.item_source, scope === partner.scope ? 'private' : 'bank')
    if (scope !== partner.scope) continue
    assert.deepEqual([skill.item_count, skill.items], [12, []])
    assert.doesNotMatch(JSON.stringify(body), /mortar|scaffold board/)
  }
  const { rows } = await app.context.db.pool.query('select items from private_item_sets where org_id = $1', [
    partner.orgId,
  ])
  assert.equal(rows.length, 1)
  assert.doesNotMatch(rows[0].items.toString('latin1'), /mortar/)
})
