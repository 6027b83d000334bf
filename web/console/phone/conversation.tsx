import { Fragment } from 'preact'
import { Time } from '../../ui/time.tsx'
import './conversation.css'
import { channelName } from '../shared/labels.ts'
import type { Message, Part } from '../shared/records.ts'

interface Props {
  messages: Message[]
  /** With channel, state and time of every message, for who looks into a conversation; without, as the candidate sees it. */
  detailed?: boolean
  /** The step that is being answered: its choices are buttons elsewhere. */
  open?: number | undefined
}

/** A conversation, message by message. What the candidate said stands on the right, as on the candidate's own phone. */
export function Conversation({ messages, detailed = false, open }: Props) {
  return (
    <>
      {messages.map((message, index) => {
        const before = messages[index - 1]
        const moved = before?.channel !== message.channel
        return (
          <Fragment key={message.message_id}>
            {moved && (
              <p class="channel-mark">
                <span class="tag">{channelName(message.channel)}</span>
              </p>
            )}
            <Bubble message={message} detailed={detailed} open={open} />
          </Fragment>
        )
      })}
    </>
  )
}

function Bubble({ message, detailed, open }: { message: Message; detailed: boolean; open: number | undefined }) {
  const { direction, channel, state, parts, text, error, at, contact_step } = message
  const lost = state === 'failed' || state === 'dropped'
  return (
    <div class={`bubble ${direction} ${channel} ${lost ? 'lost' : ''}`}>
      <span class="hidden-text">{direction === 'in' ? 'Candidate:' : 'Arrived:'}</span>
      {contact_step !== null && contact_step > 0 && <p class="bubble-note">Follow-up {contact_step}</p>}
      {channel === 'voice' && direction === 'out' && <p class="bubble-note">The call says</p>}
      {direction === 'in' ? (
        <p>{text}</p>
      ) : text ? (
        <Written text={text} />
      ) : (
        parts.map((part, index) => <Words key={index} part={part} open={part.step === open} />)
      )}
      {(detailed || lost) && (
        <p class="bubble-foot">
          {detailed && (
            <>
              {channelName(channel)} · <Time at={at} /> ·{' '}
            </>
          )}
          {state}
          {error && `: ${error}`}
        </p>
      )}
    </div>
  )
}

/** A message that is text alone, as it arrives: its links can be followed, and nothing can be pressed. */
function Written({ text }: { text: string }) {
  return (
    <p class="written">
      {text.split(/(https?:\/\/\S+)/).map((piece, index) =>
        index % 2 === 0 || piece.endsWith('…') ? (
          piece
        ) : (
          <a key={index} href={piece} target="_blank" rel="noreferrer">
            {piece}
          </a>
        ),
      )}
    </p>
  )
}

function Words({ part, open }: { part: Part; open: boolean }) {
  return (
    <>
      {part.text.split('\n').map((line, index) => (
        <p key={index}>{line}</p>
      ))}
      {part.choices.length > 0 && !open && (
        <ul class="offered" aria-label="Choices">
          {part.choices.map(({ value, label }) => (
            <li key={value}>{label}</li>
          ))}
        </ul>
      )}
    </>
  )
}
