import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startApp, type TestApp } from '../../test/support/app.ts'
import type { TestKey } from '../../test/support/call.ts'
import { type Cleanup, oncePerFile } from '../../test/support/cleanup.ts'
import { TestClock } from '../../test/support/clock.ts'
import type { CodeSample } from './code-samples.ts'
import { describeApis } from './describe.ts'

interface Language {
  file: string
  /** The command, which gets the name of the file as its last argument. */
  command: string[]
}

// Go is only checked for syntax: compiling its HTTP client takes longer than all other samples together.
const languages: Record<string, Language> = {
  Shell: { file: 'sample.sh', command: ['bash'] },
  TypeScript: { file: 'sample.mts', command: [process.execPath] },
  Python: { file: 'sample.py', command: ['python3'] },
  Go: { file: 'sample.go', command: ['gofmt', '-e'] },
  Java: { file: 'Example.java', command: ['java', '-XX:TieredStopAtLevel=1'] },
  PHP: { file: 'sample.php', command: ['php'] },
}

const descriptions = describeApis()
const getServer = oncePerFile(async (t: Cleanup) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { orgId, key } = await app.fixtures.createOrg()
  return { app, key, sessionKey: await app.fixtures.createSessionKey(orgId) }
})

for (const [language, { file, command }] of Object.entries(languages)) {
  const isMissing = spawnSync(command[0]!, ['--version']).error !== undefined
  const skip = isMissing && `${command[0]} is not installed`

  test(`the ${language} samples send signed requests, with and without a body`, { skip }, async (t) => {
    const { app, key, sessionKey } = await getServer()
    const { partner, verification } = await descriptions
    const workflows = partner.paths['/api/v1/partner/workflows']!
    const run = async (operation: object) => {
      const samples = (operation as { 'x-codeSamples': CodeSample[] })['x-codeSamples']
      const folder = await mkdtemp(join(tmpdir(), 'attestry-sample-'))
      t.after(() => rm(folder, { recursive: true }))
      const path = join(folder, file)
      await writeFile(path, samples.find(({ lang }) => lang === language)!.source)
      const env = { ...process.env, ...environmentOf(app, key, sessionKey) }
      const [program, ...args] = command
      return (await promisify(execFile)(program!, [...args, path], { env, cwd: folder })).stdout
    }
    const outputs = await Promise.all(
      [workflows.post, workflows.get, verification.paths['/api/v1/verify']!.post].map((each) => run(each!)),
    )
    if (language === 'Go') return
    assert.match(outputs[0]!, /"message":"Workflow created"/)
    assert.match(outputs[1]!, /"items":\[/)
    assert.match(outputs[2]!, /"message":"Session opened"/)
  })
}

function environmentOf({ url }: TestApp, { keyId, secret }: TestKey, sessionKey: string) {
  return { ATTESTRY_URL: url, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret, ATTESTRY_SESSION_KEY: sessionKey }
}
