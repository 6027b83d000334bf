import { randomUUID } from 'node:crypto'
import { findCandidacy } from '../../server/campaigns/candidacy.ts'
import { simulatedReply } from '../../server/channels/simulator/simulated-reply.ts'
import type { TestApp } from './app.ts'
import { signInMember } from './console.ts'

const SECONDS_PER_ANSWER = 12

/**
 * Answers as a candidate in TEST mode until the conversation ends, with answers that lead to the verdict `inconclusive`.
 * The time between question and answer is measured, not simulated.
 */
export async function answerWithoutVerdict(app: TestApp, orgId: string, candidateId: string): Promise<void> {
  const recruiter = await signInMember(app, orgId, 'recruiter')
  for (;;) {
    const { state, flow, status } = (await findCandidacy(app.context.db.queries, candidateId))!
    if (status !== 'pending') return
    const { kind: _, ...reply } = simulatedReply({ skill_answers: ['undecided'] }, state, flow, 0)!
    app.clock.advance(SECONDS_PER_ANSWER * 1000)
    const path = `/orgs/${orgId}/test/phone/${candidateId}/reply`
    const response = await recruiter.post(path, { ...reply, client_id: randomUUID() })
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  }
}
