import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import type { Attempt, Delivery } from './webhook-records.ts'

interface Props {
  path: string
  /** Grows when something was sent: the log is read again. */
  sends: number
  replay: ((which: object) => Promise<void>) | undefined
}

/** What was sent to an endpoint, every attempt, and what it answered. */
export function Deliveries({ path, sends, replay }: Props) {
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<Delivery>(`${path}/deliveries${status ? `?status=${status}` : ''}`, { every: 3000 })
  const [shownId, setShown] = useState<string>()
  const [recovering, setRecovering] = useState(false)
  const shown = list.items?.find(({ delivery_id }) => delivery_id === shownId)
  useEffect(() => {
    if (sends > 0) void list.reload()
  }, [sends])
  return (
    <section class="stack" aria-label="Delivery log">
      <div class="page-head">
        <h2>Delivery log</h2>
        {replay && (
          <div class="row">
            <button type="button" class="small-button" onClick={() => void replay({ only_failed: true })}>
              Send again what was not taken
            </button>
            <button type="button" class="small-button" onClick={() => setRecovering(true)}>
              Recover a time
            </button>
          </div>
        )}
      </div>
      <div class="row filters">
        <label>
          Show
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">Every delivery</option>
            <option value="pending">Pending</option>
            <option value="delivered">Delivered</option>
            <option value="failed">Failed</option>
          </select>
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Deliveries, newest event first"
        rows={list.items}
        keyOf={({ delivery_id }) => delivery_id}
        more={list.more}
        empty={
          <p class="soft">
            {status ? 'No delivery with this status.' : 'Nothing was sent yet. A test event shows whether all is well.'}
          </p>
        }
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Event',
            cell: (delivery) => (
              <>
                <code>{delivery.event_type}</code>
                <div class="soft small">
                  <code>{delivery.event_id}</code>
                </div>
              </>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Last answer', cell: ({ attempts }) => <Outcome attempt={attempts.at(-1)} /> },
          {
            name: 'Attempts',
            cell: ({ delivery_id, event_type, attempts }) => (
              <button
                type="button"
                class="plain flush"
                aria-label={`${attempts.length} attempts of ${event_type}`}
                onClick={() => setShown(delivery_id)}
              >
                {attempts.length}
              </button>
            ),
          },
          { name: 'Next', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
          ...(replay
            ? [
                {
                  name: 'Again',
                  cell: ({ event_id }: Delivery) => (
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={`Replay ${event_id}`}
                      onClick={() => void replay({ event_ids: [event_id] })}
                    >
                      Replay
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {shown && (
        <Dialog title={`Attempts: ${shown.event_type}`} onClose={() => setShown(undefined)}>
          <Attempts attempts={shown.attempts} />
        </Dialog>
      )}
      {recovering && replay && (
        <Recover
          onClose={() => setRecovering(false)}
          onChoose={(which) => {
            setRecovering(false)
            void replay(which)
          }}
        />
      )}
    </section>
  )
}

function Outcome({ attempt }: { attempt: Attempt | undefined }) {
  if (!attempt) return <span class="soft">–</span>
  const { status_code, error, latency_ms } = attempt
  const taken = status_code !== null && status_code >= 200 && status_code < 300
  return (
    <span class={taken ? 'good-text' : 'bad-text'}>
      {status_code ?? error ?? 'no answer'} · {Math.round(latency_ms)} ms
    </span>
  )
}

function Attempts({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length === 0) return <p class="soft">Not tried yet.</p>
  return (
    <ol class="ordered">
      {[...attempts].reverse().map((attempt) => (
        <li key={attempt.attempted_at} class="stack-tight">
          <p class="row between">
            <Time at={attempt.attempted_at} />
            <Outcome attempt={attempt} />
          </p>
          {attempt.error && attempt.status_code !== null && <p class="bad-text small">{attempt.error}</p>}
          {attempt.answer && <pre class="json">{attempt.answer}</pre>}
        </li>
      ))}
    </ol>
  )
}

interface RecoverProps {
  onClose: () => void
  onChoose: (which: object) => void
}

/** Everything of some days once more, for instance after the receiving side lost it. */
function Recover({ onClose, onChoose }: RecoverProps) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [onlyFailed, setOnlyFailed] = useState(false)
  return (
    <Dialog title="Send events of a time again" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          onChoose({
            from: new Date(from).toISOString(),
            ...(to ? { to: new Date(to).toISOString() } : {}),
            ...(onlyFailed ? { only_failed: true } : {}),
          })
        }}
      >
        <p class="soft">
          Every event of the types that this endpoint takes, also those from before it existed; the last 30 days are
          kept.
        </p>
        <div class="pair">
          <Field id="recover-from" label="From">
            {(attributes) => (
              <input
                {...attributes}
                type="datetime-local"
                required
                value={from}
                onInput={(event) => setFrom(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field id="recover-to" label="To (optional)">
            {(attributes) => (
              <input
                {...attributes}
                type="datetime-local"
                value={to}
                onInput={(event) => setTo(event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <label class="check">
          <input type="checkbox" checked={onlyFailed} onChange={() => setOnlyFailed(!onlyFailed)} />
          Only what was not taken
        </label>
        <button type="submit" class="primary" disabled={!from}>
          Send again
        </button>
      </form>
    </Dialog>
  )
}
