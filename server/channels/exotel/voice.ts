import type { Context } from '../../context.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import { keyInstructions, maxKeys, spokenQuestion } from '../call-keys.ts'
import { callReport } from '../call-report.ts'
import { type ChannelAdapter, SendError } from '../channel.ts'
import { requireAllowedCountry } from '../country-refusal.ts'
import type { CallTurn, InboundStatus, KeypadAnswer } from '../inbound.ts'
import { questionIn } from '../message-text.ts'
import { callCategoryOf, rulesFor } from '../rules.ts'
import type { ExotelVoiceSettings } from '../settings.ts'
import { postToExotel, statusCallbackUrl } from './exotel.ts'

const DEFAULT_RING_SECONDS = 30
const MAX_CALL_SECONDS = 1800
/** Silence after which the question is repeated once. */
const SILENCE_TIMEOUT_SECONDS = 6

/** Calls to India through Exotel. A call follows a flow of the organisation, whose applets request the questions and report the keys. */
export function openExotelVoice({ config }: Pick<Context, 'config'>): Pick<ChannelAdapter, 'send'> {
  return {
    async send(message, credentials, signal) {
      const settings = credentials as ExotelVoiceSettings
      requireAllowedCountry('voice', settings, message.to)
      if (!config.publicUrl) throw new SendError('rejected', 'PUBLIC_URL is not set, so Exotel cannot call back')
      const { account_sid, app_id, from, ring_seconds = DEFAULT_RING_SECONDS } = settings
      if (!spokenLanguages(settings).includes(message.language))
        throw new SendError('rejected', `no voice available for language ${message.language}`)
      const body = await postToExotel(
        settings,
        'Calls/connect.json',
        {
          From: message.to,
          CallerId: from,
          Url: `http://my.exotel.com/${account_sid}/exoml/start_voice/${app_id}`,
          // The only documented type.
          ...(callCategoryOf(from, rulesFor(message.to)) === 'service' ? { CallType: 'trans' } : {}),
          TimeOut: String(ring_seconds),
          TimeLimit: String(MAX_CALL_SECONDS),
          StatusCallback: statusCallbackUrl(config.publicUrl, settings, message.message_id),
          'StatusCallbackEvents[0]': 'terminal',
          StatusCallbackContentType: 'application/json',
          CustomField: message.message_id,
        },
        signal,
      )
      const { Call: call } = (body ?? {}) as { Call?: { Sid?: unknown } }
      return { providerId: typeof call?.Sid === 'string' ? call.Sid : undefined }
    },
  }
}

/** Returns the languages that the voice of the Exotel account speaks. */
export function spokenLanguages({ languages = ['en'] }: Pick<ExotelVoiceSettings, 'languages'>): Language[] {
  return languages
}

/** The parameters of a Gather applet. */
export interface GatherParameters {
  gather_prompt: { text: string }
  max_input_digits: number
  finish_on_key: string
  input_timeout: number
  repeat_menu: number
  repeat_gather_prompt?: { text: string }
}

/**
 * Returns the parameters of the Gather applet for the next turn of a call. The last words have no question: the applet waits for a second
 * and continues with its output for no input, which hangs up.
 */
export function gatherParameters(turn: CallTurn | undefined, languages: readonly Language[]): GatherParameters {
  const { language, greeting, prompts, isOver } = turn ?? {
    language: 'en',
    greeting: undefined,
    prompts: [],
    isOver: true,
  }
  const question = isOver ? undefined : questionIn(prompts)
  const spokenTexts = [
    ...(greeting ? [greeting] : []),
    ...(question ? prompts.slice(0, -1) : prompts).map(({ text }) => text),
  ]
  if (!question)
    return {
      gather_prompt: { text: inOneLine([...spokenTexts, prompt('call_goodbye', language)]) },
      max_input_digits: 1,
      finish_on_key: '#',
      input_timeout: 1,
      repeat_menu: 0,
    }
  const spoken = spokenQuestion(question, languages)
  const questionText = inOneLine([spoken.text, ...keyInstructions(spoken, language, greeting !== undefined)])
  return {
    gather_prompt: { text: inOneLine([...spokenTexts, questionText]) },
    max_input_digits: maxKeys(spoken),
    finish_on_key: '#',
    input_timeout: SILENCE_TIMEOUT_SECONDS,
    repeat_menu: 1,
    repeat_gather_prompt: { text: questionText },
  }
}

function inOneLine(texts: string[]): string {
  return texts.join(' ').replace(/\s+/g, ' ')
}

/** Reads the message of a call from the request of an applet: `CustomField` has the value that was sent with the call. */
export function readMessageId(query: Record<string, unknown>): string | undefined {
  return /^[\w-]{1,64}$/.exec(String(query.CustomField ?? ''))?.[0]
}

/** Reads the keys from the request of a Passthru applet, which reports the digits in quotation marks. */
export function readKeys(query: Record<string, unknown>): KeypadAnswer | undefined {
  const callId = /^[\w-]{1,64}$/.exec(String(query.CallSid ?? ''))?.[0]
  const digits = /^"?(\d{1,4})"?$/.exec(String(query.digits ?? '').trim())?.[1]
  return callId === undefined ? undefined : { callId, digits }
}

/** Reads the report about a finished call; undefined for other reports. */
export function readExotelCallStatus(body: unknown, messageId: string): InboundStatus | undefined {
  const { CallSid, Status, EventType = 'terminal', Legs } = (body ?? {}) as Record<string, unknown>
  const providerId = /^[\w-]{1,64}$/.exec(String(CallSid ?? ''))?.[0]
  if (!providerId || EventType !== 'terminal') return undefined
  // The first leg is the person who was called.
  const [leg] = Array.isArray(Legs) ? (Legs as ({ OnCallDuration?: unknown } | null)[]) : []
  return callReport({ providerId, messageId }, String(Status), leg?.OnCallDuration)
}
