import { type OutgoingMessage, SendError } from '../channels/channel.ts'
import { findCountryRefusal } from '../channels/country-refusal.ts'
import { findCredentials } from '../channels/credentials.ts'
import { rulesFor } from '../channels/rules.ts'
import type { ExotelSettings, GupshupSettings, WhatsAppSettings } from '../channels/settings.ts'
import { renderSms, renderWhatsApp } from '../channels/templates/render.ts'
import { reviewText } from '../channels/templates/review-texts.ts'
import type { ReviewPurpose } from '../channels/templates/template.ts'
import type { Context } from '../context.ts'
import type { Queries } from '../platform/database/database.ts'
import { breakLinks } from '../platform/text/links.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { prompt } from '../questions/prompts.ts'

/** Channels by which a reviewer can get the link, in order of preference. */
export const reviewChannels = ['whatsapp', 'sms'] as const
export type ReviewChannel = (typeof reviewChannels)[number]

/** The language of the review email, whose Hindi part repeats the request. */
const LANGUAGE = 'en'
const MAX_NAME_LENGTH = 60
const NAMELESS_STUDENT = 'A student'

export interface ReviewMessageContent {
  messageId: string
  orgId: string
  purpose: ReviewPurpose
  phone: string
  reviewer: string
  student: string
  organisation: string
  link: string
}

/** Returns the message as the adapter of its channel needs it. A registered text replaces the text where the channel requires one. */
export function toOutgoingMessage(content: ReviewMessageContent, channel: ReviewChannel): OutgoingMessage {
  const { messageId, orgId, purpose, phone, reviewer, organisation, link } = content
  return {
    message_id: messageId,
    org_id: orgId,
    to: phone,
    name: shorten(reviewer),
    language: LANGUAGE,
    prompts: [{ step: 0, kind: 'notice', text: messageText(content, channel), choices: [] }],
    link,
    unsubscribeUrl: link,
    company: shorten(organisation),
    title: '',
    minutes: 1,
    followUpNumber: purpose === 'review_request' ? 0 : 1,
    isRequested: false,
    asksConsent: false,
    isCode: false,
    review: { purpose, student: studentName(content) },
  }
}

/** Returns the text of the message, with the request and the link. Only channels whose replies are read mention STOP. */
export function messageText(content: ReviewMessageContent, channel: ReviewChannel): string {
  const { purpose, phone, organisation, link } = content
  const text = reviewText(purpose, LANGUAGE, shorten(organisation))!
    .replace('{student}', () => studentName(content))
    .replace('{link}', () => link)
  const readsReplies = channel === 'whatsapp' || rulesFor(phone).channels.sms.use === 'conversation'
  return readsReplies ? `${text}\n\n${prompt('reply_stop', LANGUAGE)}` : text
}

function studentName({ student }: ReviewMessageContent): string {
  return shorten(student) || NAMELESS_STUDENT
}

function shorten(name: string): string {
  return [...breakLinks(toSingleLine(name))].slice(0, MAX_NAME_LENGTH).join('').trim()
}

/** Returns the first channel that can reach the reviewer, or why none can. */
export async function chooseChannel(
  queries: Queries,
  { vault }: Pick<Context, 'vault'>,
  content: ReviewMessageContent,
  channels: readonly ReviewChannel[] = reviewChannels,
): Promise<{ channel: ReviewChannel } | { problem: string }> {
  const problems: string[] = []
  for (const channel of channels) {
    const credentials = await findCredentials(queries, vault, content.orgId, channel)
    if (credentials === undefined) continue
    const problem = findChannelProblem(channel, credentials, content)
    if (problem === undefined) return { channel }
    problems.push(`${channel === 'sms' ? 'SMS' : 'WhatsApp'}: ${problem}`)
  }
  return { problem: problems.join('; ') || 'neither WhatsApp nor SMS is set up for the organisation' }
}

/** Returns why a message would be refused before it is sent: by the rules of the country, or without an approved text. */
function findChannelProblem(
  channel: ReviewChannel,
  credentials: unknown,
  content: ReviewMessageContent,
): string | undefined {
  const refusal = findCountryRefusal(channel, credentials, content.phone)
  if (refusal) return `${refusal.problem} ${refusal.remedy}`
  try {
    const message = toOutgoingMessage(content, channel)
    if (channel === 'whatsapp') renderWhatsApp(message, (credentials as WhatsAppSettings).registered_templates)
    else if (rulesFor(content.phone).channels.sms.template)
      renderSms(message, credentials as ExotelSettings | GupshupSettings)
    return undefined
  } catch (error) {
    if (error instanceof SendError) return error.message
    throw error
  }
}
