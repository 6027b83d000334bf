import { serviceDisabledProblem } from '../../access/service-switch.ts'
import { problem } from '../../api/problem.ts'
import { addressField, type ChannelName, type OutgoingMessage, SendError } from '../../channels/channel.ts'
import { findCredentials } from '../../channels/credentials.ts'
import { loadMessageErrors, reasonOfFailure } from '../../channels/failure-reasons.ts'
import { categoryInSettings } from '../../channels/templates/render.ts'
import type { Context } from '../../context.ts'
import { countEmail, secondsUntilReset, uncountEmail } from '../../mail/daily-limits.ts'
import { findSuppression } from '../../mail/suppressions.ts'
import { formatWait, SECOND } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { indianDate } from '../../platform/india-time.ts'
import { estimateMessageCost } from '../spending/message-cost.ts'
import { releaseDailyCost } from '../spending/spending.ts'
import { reserveTestMessageCost } from '../spending/test-message-cost.ts'
import { nextSendTime } from './contact-hours.ts'
import { findOptedOut, recordOptOut } from './opt-outs.ts'

const TIMEOUT_MS = 15 * SECOND

type TestMessageDeps = Pick<Context, 'db' | 'vault' | 'clock' | 'config' | 'channels' | 'mailboxes' | 'keyring'>

interface TestMessage {
  orgId: string
  company: string
  channel: ChannelName
  /** A phone number or an email address. */
  to: string
}

interface TestMessageOutcome {
  /** Whether the provider accepted the message. */
  accepted: boolean
  error: string | null
  remedy: string | null
}

/**
 * Sends the first message of an example job, with a link to the home page, outside of any transaction. Throws a problem if a rule for LIVE
 * messages does not allow it: opt-outs, suppressed mailboxes, hours, the daily limit of the mailbox, or the daily cap.
 */
export async function sendTestMessage(deps: TestMessageDeps, message: TestMessage): Promise<TestMessageOutcome> {
  const { db, vault, clock, config, channels } = deps
  const { orgId, channel, to } = message
  const credentials = await findCredentials(db.queries, vault, orgId, channel)
  if (credentials === undefined && !(channel === 'email' && config.smtpUrl !== undefined))
    throw problem('CONFLICT', `The ${channel} channel is not set up. Set it up first.`)
  const isEmail = addressField[channel] === 'email'
  const recipient = {
    org_id: orgId,
    mode: 'live' as const,
    phone: isEmail ? null : to,
    email: isEmail ? to : null,
    test_clock_id: null,
  }
  const outgoingMessage = testMessage(deps, message)
  await requireAllowed(deps, recipient, channel, categoryInSettings(outgoingMessage, credentials))
  const pricedMessage = { org_id: orgId, channel, contact_step: 0, is_code: false }
  const cost = await estimateMessageCost(deps, pricedMessage, recipient, outgoingMessage)
  const scope = { orgId, mode: 'live' as const }
  const testMessageCost = { day: indianDate(clock.now()), cost }
  const countedEmail = { orgId: undefined, group: 'candidate' as const, address: to }
  await db.transaction(async (tx) => {
    if (!(await reserveTestMessageCost(tx, scope, testMessageCost)))
      throw problem('CONFLICT', 'The message would exceed the daily cap. Raise the cap, or try again tomorrow.')
    const retryAfter = secondsUntilReset(clock.now())
    if (isEmail && (await countEmail(tx, deps, countedEmail)))
      throw problem(
        'RATE_LIMITED',
        `The daily limit of emails to this mailbox is reached. Try again in ${formatWait(retryAfter)}.`,
        { retryAfter },
      )
  })
  try {
    await channels[channel].send(outgoingMessage, credentials, AbortSignal.timeout(TIMEOUT_MS))
    return { accepted: true, error: null, remedy: null }
  } catch (error) {
    if (!(error instanceof SendError)) throw error
    // After an unknown outcome, the message may have been sent.
    if (error.reason !== 'unknown')
      await db.transaction(async (tx) => {
        await releaseDailyCost(tx, scope, testMessageCost)
        if (isEmail) await uncountEmail(tx, deps, countedEmail)
        if (error.reason === 'stopped') await recordOptOut(tx, clock, recipient)
      })
    const { remedy } = loadMessageErrors().reasons[reasonOfFailure(channel, error.message)]!
    return { accepted: false, error: error.message, remedy }
  }
}

/** Throws a problem if the recipient may not get a message now. */
async function requireAllowed(
  deps: Pick<TestMessageDeps, 'db' | 'clock' | 'mailboxes' | 'keyring'>,
  recipient: { org_id: string; mode: 'live'; phone: string | null; email: string | null; test_clock_id: null },
  channel: ChannelName,
  category: string | undefined,
): Promise<void> {
  const { db, clock, keyring } = deps
  const { org_id: orgId, email } = recipient
  await keyring.refreshIfStale()
  if (keyring.isServicePaused(orgId)) throw serviceDisabledProblem(true)
  const optedOut = await db.transaction((tx) => findOptedOut(tx, [recipient]))
  if (optedOut.length > 0)
    throw problem('CONFLICT', 'The recipient has opted out of the messages of your organisation. Use another address.')
  if (email !== null && (await findSuppression(db.queries, deps, { address: email, audience: 'candidate', orgId })))
    throw problem('CONFLICT', 'The mailbox is on the suppression list. Use another address.')
  const now = clock.now()
  const waitMs = nextSendTime(recipient, { channel, isResponse: false, isCode: false, category }, now) - now
  if (waitMs > 0)
    throw problem(
      'CONFLICT',
      `Messages to this recipient are not allowed at this hour. Try again in ${formatWait(Math.ceil(waitMs / SECOND))}.`,
    )
}

function testMessage(
  { config, clock }: Pick<TestMessageDeps, 'config' | 'clock'>,
  { orgId, company, to }: TestMessage,
): OutgoingMessage {
  const link = config.publicUrl ?? ''
  return {
    message_id: newId('MS_', clock.now()),
    org_id: orgId,
    to,
    name: 'Test',
    language: 'en',
    prompts: [{ step: 0, kind: 'notice', text: `Test message of ${company}.`, choices: [] }],
    link,
    unsubscribeUrl: link,
    company,
    title: 'Test message',
    minutes: 1,
    followUpNumber: 0,
    isRequested: false,
    asksConsent: true,
    isCode: false,
  }
}
