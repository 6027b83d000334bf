import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { ADMIN_KEY, cloneDatabase } from '../../test/support/app.ts'
import { itemsCsv, sampleItems } from '../../test/support/item-files.ts'
import { nodeOptions } from '../../test/support/node-options.ts'
import { createDeployment } from '../../test/support/server.ts'

const HEADER = 'id,name,sub_skill,master_skill\n'

test('an import is undone after a preview, and only once', async (t) => {
  const { cli, json, dataDir } = await createDeployment(t)
  const path = join(dataDir, 'skills.csv')
  await writeFile(path, `${HEADER}k1,Kite making,Paper craft,Crafts\n`)
  await json('skills', 'import', '--format', 'csv', path)
  await writeFile(path, `${HEADER}k1,Kite building,Paper craft,Crafts\nk2,Mask making,Masks,Crafts\n`)
  const { import_id: id } = await json('skills', 'import', '--format', 'csv', path)
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const questionsPath = join(dataDir, 'questions.csv')
  await writeFile(questionsPath, itemsCsv(sampleItems(2), 'Mask making'))
  await json('items', 'import', '--org', org_id, questionsPath)
  const preview = await cli('skills', 'undo-import', id)
  assert.equal(preview.code, 0, preview.stderr)
  assert.match(preview.stdout, new RegExp(`Would undo the import ${id} \\(skills\\.csv`))
  assert.match(preview.stdout, /Skills withdrawn +1 .*\n.*in use +1 /)
  assert.match(
    preview.stdout,
    /\(0 mandates, 0 verifications, 0 endorsements, 0 credentials, 2 questions, 0 selections\)/,
  )
  assert.match(preview.stdout, /SKILL IN USE +NAME *\nsk_\d+ +Mask making/)
  assert.match(preview.stdout, /sk_\d+ +Kite building +Kite making/)
  assert.match(preview.stdout, /Nothing was changed/)
  assert.equal((await json('skills', 'undo-import', id)).undone, false)

  const undone = await json('skills', 'undo-import', id, '--yes')
  assert.deepEqual([undone.undone, undone.withdrawn_skills, undone.restored_names], [true, 1, 1])
  const second = await cli('skills', 'undo-import', id, '--yes')
  assert.equal(second.code, 1)
  assert.match(second.stderr, new RegExp(`Import ${id} was already undone at .* by cli:`))
  const [undoneImport, firstImport] = await json('skills', 'imports')
  assert.deepEqual([undoneImport.can_undo, firstImport.can_undo], [false, true])
  assert.match((await cli('skills', 'imports')).stdout, /undone on \d{4}-\d\d-\d\d by cli:/)
  const again = await json('skills', 'import', '--format', 'csv', path)
  assert.deepEqual([again.added, again.changed, again.renamed[0].to], [1, 1, 'Kite building'])
})

test('a killed undo leaves no changes, and the next one succeeds', async (t) => {
  const { url, drop } = await cloneDatabase()
  const { dataDir } = await createDeployment(t)
  const path = join(dataDir, 'many.csv')
  const rowsOf = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `m${i},${name} ${i},Sub,Master`).join('\n')
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
  const readSkills = async () => {
    const { rows } = await client.query(
      `select number, name, name_key, aliases, withdrawn, revision from skills where number >= 1000000 order by number`,
    )
    return rows
  }
  try {
    assert.deepEqual(await once(runCli('migrate'), 'exit'), [0, null])
    await writeFile(path, `${HEADER}${rowsOf('made up skill', 1500)}\n`)
    assert.deepEqual(await once(runCli('skills', 'import', '--format', 'csv', path), 'exit'), [0, null])
    const before = await readSkills()
    await writeFile(path, `${HEADER}${rowsOf('renamed skill', 3000)}\n`)
    assert.deepEqual(await once(runCli('skills', 'import', '--format', 'csv', path), 'exit'), [0, null])
    const imported = await readSkills()
    assert.equal(imported.length, 3000)
    const { rows } = await client.query('select import_id from catalogue_imports order by version desc limit 1')
    const undoArgs = ['skills', 'undo-import', rows[0].import_id, '--yes']
    // An open transaction holds the row of the import, so the undo blocks after changing all skills.
    await client.query('begin')
    await client.query('select from catalogue_imports where import_id = $1 for update', [rows[0].import_id])
    const child = runCli(...undoArgs)
    const exited = once(child, 'exit')
    for (let waitingLocks = 0; waitingLocks === 0; await pause(20)) {
      assert.equal(child.exitCode, null, 'the undo is still running')
      const locks = await client.query(`select from pg_locks where not granted and locktype = 'transactionid'`)
      waitingLocks = locks.rowCount!
    }
    child.kill('SIGKILL')
    await exited
    await client.query('rollback')
    assert.deepEqual(await readSkills(), imported)
    assert.deepEqual(await once(runCli(...undoArgs), 'exit'), [0, null])
    const afterUndo = await readSkills()
    assert.deepEqual(
      afterUndo.slice(0, 1500).map((row) => ({ ...row, revision: 1 })),
      before,
    )
    assert.ok(afterUndo.slice(1500).every(({ withdrawn }) => withdrawn))
  } finally {
    await client.end()
    await drop()
  }
})
