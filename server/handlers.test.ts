import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { serviceResumed } from './access/service-switch.ts'
import { reportFailed } from './ats/reports/reports.ts'
import { campaignHoldChanged } from './campaigns/campaigns.ts'
import { messagesChanged } from './campaigns/contact/message-changes.ts'
import { creditsSpent } from './campaigns/credits.ts'
import { candidatesChanged } from './campaigns/progress.ts'
import { adminChangeMade } from './catalogue/public/skill-admin-routes.ts'
import { skillQuestions } from './catalogue/skill-questions.ts'
import { skillApproved, skillRequestResolved } from './catalogue/skill-requests.ts'
import { registerHandlers } from './handlers.ts'
import { itemRetired } from './items/item-status.ts'
import { isMemberAddress } from './mail/mail.ts'
import { beforeMandateArchived } from './mandates/mandates.ts'
import { personAudited } from './people/audit.ts'
import {
  beforePersonErased,
  exportRequested,
  personCorrected,
  recordIdsRequested,
  restrictionChanged,
} from './people/identity/hooks.ts'
import { defineHook, type Hook } from './platform/hook.ts'
import {
  endorsementWithdrawn,
  findVerificationCredentials,
  verificationEnded,
} from './verification/credential-hooks.ts'
import { reviewInvited } from './verification/reviews/invitation-hook.ts'
import { findStudentLanguage } from './verification/student-language.ts'
import { endpointFailing } from './webhooks/delivery/health.ts'
import { mandateCounts } from './workflows/workflows.ts'

/** Every hook, with the modules that must handle it. */
const hooks: Record<string, { hook: Hook<any, string, unknown>; modules: string[] }> = {
  mandateCounts: { hook: mandateCounts, modules: ['mandates'] },
  beforeMandateArchived: { hook: beforeMandateArchived, modules: ['campaigns'] },
  skillApproved: { hook: skillApproved, modules: ['mandates'] },
  skillRequestResolved: { hook: skillRequestResolved, modules: ['mandates', 'console'] },
  skillQuestions: { hook: skillQuestions, modules: ['items'] },
  adminChangeMade: { hook: adminChangeMade, modules: ['console'] },
  candidatesChanged: {
    hook: candidatesChanged,
    modules: ['results', 'analytics', 'credentials', 'ats', 'privacy', 'console'],
  },
  campaignHoldChanged: { hook: campaignHoldChanged, modules: ['ats'] },
  messagesChanged: { hook: messagesChanged, modules: ['analytics', 'console'] },
  creditsSpent: { hook: creditsSpent, modules: ['console'] },
  reportFailed: { hook: reportFailed, modules: ['console'] },
  itemRetired: { hook: itemRetired, modules: ['credentials'] },
  verificationEnded: { hook: verificationEnded, modules: ['credentials'] },
  reviewInvited: { hook: reviewInvited, modules: ['review-messages'] },
  endorsementWithdrawn: { hook: endorsementWithdrawn, modules: ['credentials'] },
  findStudentLanguage: { hook: findStudentLanguage, modules: ['privacy'] },
  findVerificationCredentials: { hook: findVerificationCredentials, modules: ['credentials'] },
  isMemberAddress: { hook: isMemberAddress, modules: ['console'] },
  endpointFailing: { hook: endpointFailing, modules: ['console'] },
  serviceResumed: { hook: serviceResumed, modules: ['campaigns', 'verification', 'webhooks'] },
  beforePersonErased: {
    hook: beforePersonErased,
    modules: ['campaigns', 'verification', 'review-messages', 'credentials', 'mail', 'console', 'reports', 'embeds'],
  },
  restrictionChanged: { hook: restrictionChanged, modules: ['campaigns', 'verification'] },
  personCorrected: { hook: personCorrected, modules: ['campaigns', 'verification', 'console', 'ats'] },
  exportRequested: {
    hook: exportRequested,
    modules: [
      'campaigns',
      'verification',
      'review-messages',
      'credentials',
      'mail',
      'privacy',
      'console',
      'ats',
      'reports',
      'embeds',
    ],
  },
  recordIdsRequested: { hook: recordIdsRequested, modules: ['campaigns', 'verification'] },
  personAudited: { hook: personAudited, modules: ['console'] },
}

test('this file lists every hook of the server', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname, exclude: (path) => /\.test\.ts$/.test(path) })
  const definedHooks = files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    return [...text.matchAll(/^export const (\w+) =\s+defineHook</gm)].map(([, name]) => name)
  })
  assert.deepEqual(definedHooks.sort(), Object.keys(hooks).sort())
})

test('a hook throws until its handlers are registered, and requires each of its modules', async () => {
  for (const [name, { hook, modules }] of Object.entries(hooks)) {
    await assert.rejects(hook.run(), {
      message: `hook ${name}: the handler of ${modules.join(', ')} is not registered; call registerHandlers() first`,
    })
    for (const module of modules) {
      const otherHandlers = modules
        .filter((otherModule) => otherModule !== module)
        .map((otherModule) => [otherModule, async () => {}])
      assert.throws(() => hook.register(Object.fromEntries(otherHandlers)), {
        message: `hook ${name}: the handler of ${module} is missing`,
      })
    }
  }
  registerHandlers()
  registerHandlers()
  for (const [name, { hook }] of Object.entries(hooks))
    await assert.rejects(hook.run(), (error: Error) => !error.message.startsWith('hook '), name)
})

test('a missing handler, an unknown handler and a different second handler cause an error that names the module', async () => {
  const hook = defineHook<[amount: number], number>('test').handledBy('one', 'two')
  const double = async (amount: number) => 2 * amount
  // @ts-expect-error: a handler is missing
  assert.throws(() => hook.register({ one: double }), { message: 'hook test: the handler of two is missing' })
  // @ts-expect-error: a handler is unknown
  assert.throws(() => hook.register({ one: double, two: double, three: double }), {
    message: 'hook test: three is not one of its modules',
  })
  await assert.rejects(hook.run(21), { message: /^hook test: the handler of one, two is not registered/ })
  hook.register({ one: double, two: double })
  hook.register({ one: double, two: double })
  assert.deepEqual(await hook.run(21), { one: 42, two: 42 })
  assert.throws(() => hook.register({ one: double, two: async () => 0 }), {
    message: 'hook test: the handler of two is already registered',
  })
})

test('handlers run in the declared order, observers after them, and an error stops the remaining ones', async () => {
  const hook = defineHook<[log: string[]]>('test').handledBy('first', 'second')
  hook.register({
    second: async (log) => void log.push('second'),
    first: async (log) => void log.push('first'),
  })
  const removeObserver = hook.observe(async (log) => {
    log.push('observer')
    throw new Error('rejected')
  })
  hook.observe(async (log) => void log.push('last'))
  const log: string[] = []
  await assert.rejects(hook.run(log), /rejected/)
  assert.deepEqual(log, ['first', 'second', 'observer'])
  removeObserver()
  await hook.run(log)
  assert.deepEqual(log.slice(3), ['first', 'second', 'last'])
})
