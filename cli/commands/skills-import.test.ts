import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { ADMIN_KEY, cloneDatabase } from '../../test/support/app.ts'
import { nodeOptions } from '../../test/support/node-options.ts'
import { createDeployment } from '../../test/support/server.ts'

const CSV = `id,name,description,aliases,sub_skill,master_skill,verifiable
k1,Kite making,Makes kites of paper and split bamboo.,patang; पतंग बनाना,Paper craft,Crafts,true
k2,BRICK LAYING,,wall raising,Paper craft,Crafts,
k3,,,,Paper craft,Crafts,
`

test('a CSV file can be imported as a dry run, imported, and imported again without changes', async (t) => {
  const { cli, json, dataDir } = await createDeployment(t)
  const path = join(dataDir, 'skills.csv')
  await writeFile(path, CSV)
  const rejectedRows = [{ at: 'skills.csv:4', row: 'k3', reason: 'the name is missing' }]
  const dryRun = await json('skills', 'import', '--format', 'csv', path, '--dry-run')
  const { seconds: _, version, ...counts } = dryRun
  assert.deepEqual(counts, {
    format: 'csv',
    dry_run: true,
    rows: 3,
    added: 1,
    changed: 0,
    merged: 1,
    unchanged: 0,
    new_master_skills: 1,
    new_sub_skills: 1,
    renamed: [],
    kept_names: [],
    refused: rejectedRows,
  })

  const importRun = await cli('skills', 'import', '--format', 'csv', path)
  assert.equal(importRun.code, 0, importRun.stderr)
  assert.match(
    importRun.stdout,
    /Added +1\nChanged +0\nMerged +1 .*\nUnchanged +0\nNew groups +2 {2}\(1 master skill, 1 sub-skill\)\nRejected +1\n/,
  )
  assert.match(importRun.stdout, /skills\.csv:4 +k3 +the name is missing/)
  assert.match(importRun.stdout, /Correct them and import the file again/)
  assert.match(importRun.stdout, new RegExp(`at version ${version + 1}; running servers load it`))
  assert.match(importRun.stderr, /Writing rows: \d+ of \d+/)

  const repeatedImport = await json('skills', 'import', '--format', 'csv', path)
  assert.deepEqual(
    [repeatedImport.added, repeatedImport.changed, repeatedImport.merged, repeatedImport.unchanged],
    [0, 0, 0, 2],
  )
  assert.equal(repeatedImport.version, version + 1)

  const listed = await json('skills', 'imports')
  assert.deepEqual(
    listed.map(({ import_id, format, file_name, status, summary, can_undo }: any) => {
      return [import_id, format, file_name, status, summary.added, summary.merged, summary.refused, can_undo]
    }),
    [
      [repeatedImport.import_id, 'csv', 'skills.csv', 'done', 0, 0, 1, false],
      [listed[1].import_id, 'csv', 'skills.csv', 'done', 1, 1, 1, true],
    ],
    'only the import that changed rows can be undone',
  )
  assert.match(listed[0].started_by, /^cli:.+@/)
  assert.match(
    (await cli('skills', 'imports')).stdout,
    /IM_\w+ .* csv +skills\.csv +cli:.* 1 +0 +1 +done, can be undone/,
  )
})

test('a dry run lists skills that the import would rename because two files use the same IDs', async (t) => {
  const { cli, json, dataDir } = await createDeployment(t)
  const [firstPath, secondPath] = [join(dataDir, 'first.csv'), join(dataDir, 'second.csv')]
  await writeFile(firstPath, CSV)
  await writeFile(secondPath, 'id,name,sub_skill,master_skill\nk1,Papier mache masks,Masks,Crafts\n')
  await json('skills', 'import', '--format', 'csv', firstPath)
  const dryRun = await cli('skills', 'import', '--format', 'csv', secondPath, '--dry-run')
  assert.match(dryRun.stdout, /second\.csv:2 +sk_\d+ +Kite making +Papier mache masks/)
  assert.match(dryRun.stdout, /give the row a new ID/)
  const [renamedSkill] = (await json('skills', 'import', '--format', 'csv', secondPath, '--dry-run')).renamed
  assert.deepEqual([renamedSkill.from, renamedSkill.to], ['Kite making', 'Papier mache masks'])
})

test('invalid files and options produce an error message', async (t) => {
  const { cli, dataDir } = await createDeployment(t)
  const path = join(dataDir, 'bad.csv')
  await writeFile(path, 'id;name;sub_skill\n')
  const cases: [string[], RegExp][] = [
    [['--format', 'esco', '/nowhere'], /\/nowhere: folder not found/],
    [['--format', 'csv', join(dataDir, 'none.csv')], /none\.csv: file not found/],
    [
      ['--format', 'csv', path],
      /bad\.csv: required columns missing: id, name, sub_skill; the first line has: id;name;sub_skill. .*semicolons; save the file with commas/,
    ],
    [['--format', 'xml', path], /Allowed choices are esco, onet, lightcast, csv/],
    [[path], /required option '--format <format>'/],
  ]
  for (const [args, expected] of cases) {
    const { code, stderr } = await cli('skills', 'import', ...args)
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, expected)
    assert.ok(!/\n\s+at /.test(stderr), stderr)
  }
})

test('a killed import leaves no changes, and the next import succeeds', async (t) => {
  const { url, drop } = await cloneDatabase()
  const { dataDir } = await createDeployment(t)
  const path = join(dataDir, 'many.csv')
  const rows = Array.from({ length: 3000 }, (_, i) => `m${i},made up skill ${i},Sub,Master`)
  await writeFile(path, `id,name,sub_skill,master_skill\n${rows.join('\n')}\n`)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const env = {
    ...process.env,
    DATABASE_URL: url,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const runCli = (...args: string[]) =>
    spawn(process.execPath, [...nodeOptions, main, ...args], { env, stdio: 'ignore' })
  const importArgs = ['skills', 'import', '--format', 'csv', path]
  const countImportedSkills = async () => {
    const { rows } = await client.query(`select count(*)::int as count from skills where number >= 1000000`)
    return rows[0].count
  }
  try {
    // Loads the built-in catalogue, which contains skill 1001 used below.
    assert.deepEqual(await once(runCli('migrate'), 'exit'), [0, null])
    // An open transaction holds the ID of the last row, so the import blocks after writing nearly everything.
    await client.query('begin')
    await client.query(`insert into skill_sources values ('csv', 'm2999', 1001, false, 'x', '{}', false)`)
    const child = runCli(...importArgs)
    const exited = once(child, 'exit')
    for (let waitingLocks = 0; waitingLocks === 0; await pause(20)) {
      assert.equal(child.exitCode, null, 'the import is still running')
      const locks = await client.query(`select from pg_locks where not granted and locktype = 'transactionid'`)
      waitingLocks = locks.rowCount!
    }
    child.kill('SIGKILL')
    await exited
    await client.query('rollback')
    assert.equal(await countImportedSkills(), 0)
    const { rows } = await client.query(`select count(*)::int as count from sub_skills where source = 'csv'`)
    assert.equal(rows[0].count, 0)
    assert.deepEqual(await once(runCli(...importArgs), 'exit'), [0, null])
    assert.equal(await countImportedSkills(), 3000)
  } finally {
    await client.end()
    await drop()
  }
})

const shared = fileURLToPath(new URL('../../../shared/data/', import.meta.url))
const MAX_IMPORT_SECONDS = 150
const skip = existsSync(join(shared, 'esco')) ? false : 'the ESCO and O*NET files are not next to this checkout'

test('the published ESCO and O*NET files are imported, and again without changes', { skip }, async (t) => {
  const { json } = await createDeployment(t)
  for (const [format, rows] of [
    ['esco', 13_939],
    ['onet', 28_960],
  ] as const) {
    const firstImport = await json('skills', 'import', '--format', format, join(shared, format))
    assert.equal(firstImport.rows, rows)
    assert.equal(firstImport.added + firstImport.merged, rows, JSON.stringify(firstImport.refused.slice(0, 5)))
    assert.ok(firstImport.merged > 0 && firstImport.merged < rows / 50, `${firstImport.merged} merged`)
    // A slow algorithm would take minutes; the usual time is a few seconds, and several times as long on a busy machine.
    assert.ok(firstImport.seconds < MAX_IMPORT_SECONDS, `${format} took ${firstImport.seconds} s`)
    t.diagnostic(`${format}: ${firstImport.seconds} s`)
    const repeatedImport = await json('skills', 'import', '--format', format, join(shared, format))
    assert.deepEqual(
      [repeatedImport.added, repeatedImport.changed, repeatedImport.merged, repeatedImport.unchanged],
      [0, 0, 0, rows],
    )
    assert.equal(repeatedImport.version, firstImport.version)
  }
})
