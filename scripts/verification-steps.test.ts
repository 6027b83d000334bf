import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verificationSteps } from './verification-steps.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

test('the workflows run every step of the full verification', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  )
  const commands = workflows.flatMap((text) => [...text.matchAll(/^ +- run: (.*)$/gm)].map(([, command]) => command!))
  // The verification passes if the vulnerability database cannot be reached; the workflow fails.
  const normalised = commands.map((command) => command.replace(' -- --required', ''))
  const launcher = readFileSync(join(root, 'scripts/launch.mjs'), 'utf8')
  const tasks = new Map(
    [...launcher.matchAll(/^ +'?([\w-]+)'?: \{ script: '(.*?)'/gm)].map(([, task, script]) => [script, task]),
  )
  for (const { name, args, env = {} } of verificationSteps) {
    const [script, ...options] = args
    const task = tasks.get(script)
    assert.ok(task, `scripts/launch.mjs has a task for ${script}`)
    const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value} `)
    const npm = task === 'test' ? 'npm test' : `npm run ${task}`
    const command = `${variables.join('')}${[npm, ...(options.length > 0 ? ['--', ...options] : [])].join(' ')}`
    assert.ok(normalised.includes(command), `${name}: no workflow runs "${command}"`)
  }
})
