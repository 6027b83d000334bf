import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { itemPackage, itemsCsv, itemXml, sampleItems } from '../../test/support/item-files.ts'
import { validateQtiPackage } from '../../test/support/qti-structure.ts'
import { createDeployment } from '../../test/support/server.ts'

test('questions are checked, imported and exported on the command line', async (t) => {
  const { cli, json, dataDir } = await createDeployment(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const csvPath = join(dataDir, 'questions.csv')
  await writeFile(csvPath, itemsCsv(sampleItems(12)))

  const dryRun = await json('items', 'import', '--org', org_id, csvPath, '--dry-run')
  assert.deepEqual([dryRun.dry_run, dryRun.added, dryRun.unchanged], [true, 12, 0])
  const imported = await cli('items', 'import', '--org', org_id, csvPath)
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stdout, /Added +12\n/)
  assert.match(imported.stdout, /sk_1001 .* 12 +0 +yes/)
  assert.equal((await json('items', 'import', '--org', org_id, csvPath)).unchanged, 12)

  const xmlPath = join(dataDir, 'q.xml')
  await writeFile(xmlPath, itemXml(sampleItems(13).at(-1)!))
  const single = await json('items', 'import', '--org', org_id, '--skill', 'sk_1001', xmlPath)
  assert.deepEqual([single.added, single.pilot], [1, 1])

  const packagePath = join(dataDir, 'export.zip')
  const exported = await json('items', 'export', '--org', org_id, '--format', 'qti', '--output', packagePath)
  assert.equal(exported.items, 13)
  assert.deepEqual(validateQtiPackage(await readFile(packagePath)), [])
  assert.equal((await stat(packagePath)).mode & 0o777, 0o600)
  assert.equal((await json('items', 'import', '--org', org_id, packagePath)).unchanged, 13)
  const repeatedExport = await cli('items', 'export', '--org', org_id, '--format', 'qti', '--output', packagePath)
  assert.equal(repeatedExport.code, 1)
  assert.match(repeatedExport.stderr, /export\.zip exists; delete it/)

  await writeFile(
    csvPath,
    itemsCsv(sampleItems(2)).replace('sk_1001,q1,,2', 'sk_1001,q1,,7').replace('q2,,2', 'q2,riddle,2'),
  )
  const invalid = await cli('items', 'import', '--org', org_id, csvPath)
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /questions\.csv, line 2, column difficulty: the difficulty must be 1/)
  await writeFile(packagePath, itemPackage([]).subarray(0, 60))
  assert.match((await cli('items', 'import', '--org', org_id, packagePath)).stderr, /the ZIP file is incomplete/)
  assert.match((await cli('items', 'import', '--org', org_id, dataDir)).stderr, /is not a file/)
  assert.match((await cli('items', 'import', '--org', 'ORG_X', csvPath)).stderr, /Organisation ORG_X not found/)

  const { stdout: auditLog } = await cli('audit', 'export')
  const actions = auditLog.match(/"items\.(?:import|export)"/g)
  assert.deepEqual(actions?.length, 5, 'four imports and one export were recorded, and no dry run')
  assert.doesNotMatch(auditLog, /mortar/)
})
