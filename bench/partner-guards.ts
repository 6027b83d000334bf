import { spawnSync } from 'node:child_process'
import { printRows, type Row } from './support/rows.ts'

/** What the front door (signature, limits, scope) costs a call with a body of 2 KB, in processor time. */
export async function run(): Promise<Row[]> {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [new URL('support/partner-guards-calls.ts', import.meta.url).pathname],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  const { door, read } = JSON.parse(stdout) as { door: number; read: number }
  return [
    {
      name: 'signature, service, limits and scope, 2 KB body',
      value: door,
      unit: 'µs of CPU a call',
      note: 'aim: at most 60',
    },
    { name: 'the same, and reading the body as JSON', value: read, unit: 'µs of CPU a call' },
  ]
}

if (import.meta.main) printRows('front-door', await run())
