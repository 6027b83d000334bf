import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidatesChanged } from './campaigns/progress.ts'
import { skillApproved, skillRequestResolved } from './catalogue/skill-requests.ts'
import { registerHandlers } from './handlers.ts'
import { beforeMandateArchived } from './mandates/mandates.ts'
import { defineHook, type Hook } from './platform/hook.ts'
import { endpointFailing } from './webhooks/delivery/health.ts'
import { mandateCounts } from './workflows/workflows.ts'

const hooks: Record<string, Hook<any, unknown>> = {
  mandateCounts,
  beforeMandateArchived,
  skillApproved,
  skillRequestResolved,
  candidatesChanged,
  endpointFailing,
}

test('a hook throws until its handlers are registered', async () => {
  for (const [name, hook] of Object.entries(hooks))
    await assert.rejects(hook.run(), {
      message: `no handler is registered for the hook ${name}: call registerHandlers()`,
    })
  registerHandlers()
  for (const [name, hook] of Object.entries(hooks))
    await assert.rejects(hook.run(), (error: Error) => !error.message.startsWith('no handler'), name)
})

test('a handler that is registered twice runs once, and returns its result', async () => {
  const hook = defineHook<[amount: number], number>('test')
  let calls = 0
  const double = async (amount: number) => {
    calls++
    return 2 * amount
  }
  hook.register(double)
  const remove = hook.register(double)
  assert.deepEqual(await hook.run(21), [42])
  assert.equal(calls, 1)
  remove()
  await assert.rejects(hook.run(21), /no handler is registered for the hook test/)
})

test('handlers run in the order of their registration, and an error stops the rest', async () => {
  const hook = defineHook<[log: string[]]>('test')
  hook.register(async (log) => void log.push('first'))
  hook.register(async () => {
    throw new Error('rejected')
  })
  hook.register(async (log) => void log.push('third'))
  const log: string[] = []
  await assert.rejects(hook.run(log), /rejected/)
  assert.deepEqual(log, ['first'])
})
