import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { mergeErasureLists, readErasureLists, writeErasureList } from '../../server/backup/erasure-lists.ts'
import { openFolderDestination } from '../../server/backup/folder-destination.ts'
import { backupJobs } from '../../server/backup/jobs.ts'
import type { Erasure } from '../../server/people/erasures.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { BACKUP_KEY, createEmptyDatabase, createTemporaryFolder, type TestDatabase } from '../support/backups.ts'
import { inviteCandidates } from '../support/candidate.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { signIn } from '../support/console.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'

const ERASURE = { basis: 'GDPR Article 17', requested_by: 'the person' }

/** Starts a server with backups in a folder, and two candidates who have answered. */
async function setUp(t: Cleanup) {
  const folder = await createTemporaryFolder(t)
  const backup = {
    key: Buffer.from(BACKUP_KEY, 'base64'),
    to: folder,
    schedule: undefined,
    keepCount: undefined,
    keepDays: undefined,
    s3: undefined,
  }
  const app = await startApp(t, { worker: true, config: { backup } })
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en'] }, {
    methods: ['data_enrichment'],
    enrichment_questions: [{ key: 'work', type: 'voice', text: 'Describe your work.' }],
  } as never)
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  const candidates = [aCandidate(1, { name: 'Asha Verma' }), aCandidate(2, { name: 'Bina Rao' })]
  const invited = await inviteCandidates(app, partner, mandate_id, candidates)
  for (const { page } of invited) {
    await page.view()
    await page.reply({ value: 'yes' })
    await page.reply({ text: 'Twelve years of wiring' })
  }
  return { app, partner, folder, source: databaseOf(app) }

  function databaseOf({ context: { config } }: TestApp): Pick<TestDatabase, 'env'> {
    return {
      env: {
        DATABASE_URL: config.databaseUrl!,
        DATABASE_OWNER_URL: config.databaseOwnerUrl!,
        MASTER_KEY: config.masterKey!.toString('base64'),
      },
    }
  }
}

type Setup = Awaited<ReturnType<typeof setUp>>

/** Returns functions that run commands on the database of the server. */
async function commandsOn(t: Cleanup, { source }: Setup): Promise<TestDatabase> {
  const commands = await createEmptyDatabase(t, source.env.MASTER_KEY)
  Object.assign(commands.env, source.env)
  return commands
}

async function erase({ partner }: Setup, phone: string): Promise<string> {
  const { body } = await partner.get(`/people?phone=${encodeURIComponent(phone)}`)
  const [{ person_id }] = body.data.items
  assert.equal((await partner.post(`/people/${person_id}/erase`, ERASURE)).status, 200)
  return person_id
}

/** Starts a server on a restored database and returns the names in the list of results. */
async function readNames(t: Cleanup, { app, partner }: Setup, { ownerUrl }: TestDatabase): Promise<string[]> {
  const masterKey = app.context.config.masterKey!
  const restored = await startApp(t, { clock: app.clock, config: { databaseUrl: ownerUrl, masterKey } })
  const { body } = await (await signIn(restored)).get(`/orgs/${partner.orgId}/test/recruiter-results`)
  return body.data.items.map(({ candidate }: { candidate: { name: string } }) => candidate.name).sort()
}

test('an erasure after a backup is copied next to it, and made again when the backup is restored', {
  timeout: 290_000,
}, async (t) => {
  const setup = await setUp(t)
  const { app, folder } = setup
  const commands = await commandsOn(t, setup)
  const { name } = await commands.json('backup', '--to', folder)
  const personId = await erase(setup, '+919810000001')
  const { db, queue } = app.context
  await db.transaction((tx) => queue.enqueue(tx, backupJobs[1]!, {}))
  await until(async () => (await db.pool.query('select from erasures where copied_at is null')).rowCount === 0)
  assert.equal((await listsIn(folder)).length, 2, 'that of the backup and that of the erasure')

  const target = await createEmptyDatabase(t, commands.env.MASTER_KEY)
  const { erased_people, warnings } = await target.json('restore', join(folder, name))
  assert.deepEqual({ erased_people, warnings }, { erased_people: 1, warnings: [] })
  assert.deepEqual(await readNames(t, setup, target), ['Bina Rao', 'erased'])

  // Without the lists, the restore warns, and exported erasures can be applied.
  for (const list of await listsIn(folder)) await rm(join(folder, list))
  const other = await createEmptyDatabase(t, commands.env.MASTER_KEY)
  const restored = await other.run('restore', join(folder, name))
  assert.match(restored.stdout, /Warning: no list of erasures was found in .*run "attestry privacy apply-erasures"/)
  const { stdout } = await commands.run('privacy', 'erasures', '--since', '2020-01-01')
  assert.deepEqual(
    JSON.parse(stdout).map((each: { person_id: string }) => each.person_id),
    [personId],
  )
  const file = join(folder, 'erasures.json')
  await writeFile(file, stdout)
  assert.deepEqual(await other.json('privacy', 'apply-erasures', file), { erasures: 1, erased_people: 1 })
  assert.deepEqual(await readNames(t, setup, other), ['Bina Rao', 'erased'])
  await writeFile(file, '{"person_id": 1}')
  const rejected = await other.run('privacy', 'apply-erasures', file)
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /is not a list of erasures: use a file that "attestry privacy erasures" printed/)
})

test('lists are merged without losing an erasure, and a list that cannot be read is reported and kept', async (t) => {
  const folder = await createTemporaryFolder(t)
  const destination = openFolderDestination(folder)
  const key = Buffer.from(BACKUP_KEY, 'base64')
  const erasure = (personId: string): Erasure => ({
    person_id: personId,
    org_id: 'ORG_1',
    mode: 'live',
    ...ERASURE,
    records: { candidates: [], sessions: [], reviews: [] },
    erased_at: '2026-03-11T06:30:00.000Z',
  })
  await writeErasureList(destination, key, [erasure('PER_1')], 0)
  await writeErasureList(destination, key, [erasure('PER_2'), erasure('PER_1')], 0)
  const unreadable = await writeErasureList(destination, Buffer.alloc(32, 9), [erasure('PER_3')], 0)
  await mergeErasureLists(destination, key, [erasure('PER_4')], 0)
  const lists = await readErasureLists(destination, key)
  assert.deepEqual(lists.erasures.map(({ person_id }) => person_id).sort(), ['PER_1', 'PER_2', 'PER_4'])
  assert.equal(lists.names.length, 1)
  assert.deepEqual(lists.unreadable, [unreadable])
  const [name] = lists.names
  const bytes = await readFile(join(folder, name!))
  bytes[bytes.length - 1]! ^= 1
  await writeFile(join(folder, name!), bytes)
  assert.deepEqual((await readErasureLists(destination, key)).erasures, [])
})

async function listsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.attestry-erasures'))
}
