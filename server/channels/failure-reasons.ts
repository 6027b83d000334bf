import { readFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { compileRequestValidator } from '../platform/http/validation.ts'
import { type ChannelName, channelNames } from './channel.ts'

const ERRORS_FILE = new URL('../../data/message-errors/errors.json', import.meta.url)
const OTHER_REASON = 'other'

const closed = { additionalProperties: false }
const ReasonsByText = Type.Record(Type.String(), Type.String())
const byChannel = Type.Object(
  { whatsapp: ReasonsByText, voice: ReasonsByText, sms: ReasonsByText, email: ReasonsByText },
  closed,
)

const ErrorsSchema = Type.Object(
  {
    reviewed_at: Type.String({ format: 'date' }),
    reasons: Type.Record(
      Type.String(),
      Type.Object(
        {
          title: Type.String({ minLength: 1 }),
          remedy: Type.String({ minLength: 1 }),
          blocked_by_operator: Type.Boolean(),
        },
        closed,
      ),
    ),
    codes: byChannel,
    phrases: byChannel,
  },
  closed,
)
type MessageErrors = Static<typeof ErrorsSchema>

const validate = compileRequestValidator({ body: ErrorsSchema })

/** Parses the reasons for failures. Throws an error that lists every problem. */
export function parseMessageErrors(text: string): MessageErrors {
  const errors = JSON.parse(text) as MessageErrors
  const problems = validate({ params: {}, query: {}, body: errors, rawBody: Buffer.from(text) }).map(
    ({ detail }) => `${detail.path} ${detail.message}`,
  )
  if (problems.length === 0) {
    if (!errors.reasons[OTHER_REASON]) problems.push(`reasons has no ${OTHER_REASON}`)
    for (const channel of channelNames)
      for (const [text, reason] of [
        ...Object.entries(errors.codes[channel]),
        ...Object.entries(errors.phrases[channel]),
      ]) {
        if (!errors.reasons[reason]) problems.push(`${channel}: ${text} has the unknown reason ${reason}`)
        if (text !== text.toLowerCase()) problems.push(`${channel}: ${text} must be in lower case`)
      }
  }
  if (problems.length > 0) throw new Error(`data/message-errors/errors.json is invalid: ${problems.join('; ')}`)
  return errors
}

let messageErrors: MessageErrors | undefined

/** Returns the reasons for failures. Called at startup, so that an invalid file stops the server. */
export function loadMessageErrors(): MessageErrors {
  messageErrors ??= parseMessageErrors(readFileSync(ERRORS_FILE, 'utf8'))
  return messageErrors
}

/** Returns the reason for a failure: by a code in the error, or else by its words. */
export function reasonOfFailure(channel: ChannelName, error: string): string {
  const { codes, phrases } = loadMessageErrors()
  const text = error.toLowerCase()
  const channelCodes = codes[channel]
  for (const word of text.split(/[\s,;:()#]+/)) {
    const reason = channelCodes[word] ?? channelCodes[word.replace(/\d$/, 'x')]
    if (reason) return reason
  }
  const phrase = Object.keys(phrases[channel]).find((each) => text.includes(each))
  return phrase === undefined ? OTHER_REASON : phrases[channel][phrase]!
}
