import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { canSignal, identifyProcess, isRunning, pidOf } from './processes.ts'

test('a process is identified until it ends', async () => {
  const child = spawn('sleep', ['60'])
  const identity = identifyProcess(child.pid!)!
  assert.equal(pidOf(identity), child.pid)
  assert.ok(isRunning(identity))
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(identifyProcess(child.pid!), undefined)
  assert.equal(isRunning(identity), false)
  assert.equal(canSignal(child.pid!), false)
})

test('a zombie has a pid and is not running', { skip: process.platform !== 'linux' }, async (t) => {
  // The shell is replaced by a program that never waits for the child.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'])
  t.after(() => parent.kill('SIGKILL'))
  const [output] = await once(parent.stdout, 'data')
  const pid = Number(String(output))
  await until(() => identifyProcess(pid) === undefined)
  assert.ok(canSignal(pid))
})
