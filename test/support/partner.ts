import { setLimits } from '../../server/access/key-limits.ts'
import type { Mode } from '../../server/access/keys.ts'
import type { TestApp } from './app.ts'

/** A caller who may call as often as the test wants. */
export async function partner({ given, context, as }: TestApp, mode: Mode = 'live', org?: string) {
  const orgId = org ?? (await given.org()).orgId
  const key = await given.key(orgId, { mode })
  const rates = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }
  await context.db.transaction(async (tx) => {
    for (const bucket of [
      'key',
      'reads',
      'skillRequests',
      'workflowWrites',
      'mandateWrites',
      'campaignWrites',
      'skillsLookup',
      'skillsMatch',
      'skillsSearch',
    ] as const)
      await setLimits(tx, key.keyId, { bucket, rates })
  })
  await context.keyring.refresh()
  return { ...as(key), orgId, mode, key, scope: { orgId, mode } }
}

/** The paths at fault, each once, in the order of the answer. */
export function pathsOf(answer: { body: { error?: { details: { path: string }[] } } }): string[] {
  return [...new Set(answer.body.error?.details.map(({ path }) => path))]
}
