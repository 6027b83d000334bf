import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiResult } from '../api.ts'
import type { ConfirmedPrivacyRequest, StartedPrivacyRequest, YourDataView } from '../api-types/candidate.ts'
import { Field } from '../ui/field.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'

export type RequestAction = 'export' | 'correct' | 'erase' | 'withdraw'

export interface RequestResult {
  action: RequestAction
  files: ConfirmedPrivacyRequest['export']
}

interface Props {
  action: RequestAction
  view: YourDataView
  post: <T>(path: string, body: object) => Promise<ApiResult<T>>
  onCancel: () => void
  onDone: (result: RequestResult) => void
}

/** Sends a code to a stored address, and then asks the user to enter it. */
export function RequestForm({ action, view, post, onCancel, onDone }: Props) {
  const { texts, addresses, language } = view
  const [channel, setChannel] = useState(addresses[0]!.kind)
  const [started, setStarted] = useState<StartedPrivacyRequest>()
  const [fields, setFields] = useState({ name: '', email: '', code: '', newCode: '' })
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [started])
  const isReady = started
    ? fields.code.trim() !== '' && (started.new_sent_to === null || fields.newCode.trim() !== '')
    : action !== 'correct' || fields.name.trim() !== '' || fields.email.trim() !== ''

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !busy) void (started ? confirm(started) : start())
      }}
    >
      <h3 class="actions-title" tabIndex={-1} ref={heading}>
        {texts[action]}
      </h3>
      {started ? renderCodes(started) : renderQuestion()}
      {error && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      <div class="row">
        <SubmitButton class={action === 'erase' && started ? 'no' : 'primary'} busy={busy} ready={isReady}>
          {started ? texts.confirm : texts.send_code}
        </SubmitButton>
        <button type="button" onClick={onCancel}>
          {texts.cancel}
        </button>
      </div>
    </form>
  )

  function renderQuestion() {
    return (
      <>
        <p>{texts[`${action}_note`]}</p>
        {action === 'correct' && (
          <>
            {renderField('name', texts.name!, { autoComplete: 'name' })}
            {renderField('email', texts.email!, { type: 'email', autoComplete: 'email' })}
          </>
        )}
        {addresses.map(({ kind, masked }) => (
          <label class="inline-check" key={kind}>
            <input type="radio" name="channel" checked={channel === kind} onChange={() => setChannel(kind)} />
            {texts.send_to!.replace('{address}', masked)}
          </label>
        ))}
      </>
    )
  }

  function renderCodes({ sent_to, new_sent_to, minutes }: StartedPrivacyRequest) {
    const codeAttributes = { inputMode: 'numeric', autoComplete: 'one-time-code', maxLength: 20 } as const
    return (
      <>
        <p>{texts.code_sent!.replace('{address}', sent_to).replace('{minutes}', String(minutes))}</p>
        {renderField('code', texts.code!, codeAttributes)}
        {new_sent_to !== null &&
          renderField('newCode', texts.new_code!.replace('{address}', new_sent_to), codeAttributes)}
      </>
    )
  }

  function renderField(name: keyof typeof fields, label: string, attributes: object) {
    return (
      <Field id={`request-${name}`} label={label}>
        {(fieldAttributes) => (
          <input
            type="text"
            {...fieldAttributes}
            {...attributes}
            value={fields[name]}
            onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value })}
          />
        )}
      </Field>
    )
  }

  function changes() {
    const [name, email] = [fields.name.trim(), fields.email.trim()]
    return action === 'correct' ? { ...(name ? { name } : {}), ...(email ? { email } : {}) } : {}
  }

  async function start() {
    const { email } = changes() as { email?: string }
    const result = await send<StartedPrivacyRequest>('/requests', {
      action,
      channel,
      language,
      ...(email ? { email } : {}),
    })
    if (result) setStarted(result)
  }

  async function confirm({ request_id }: StartedPrivacyRequest) {
    const { code, newCode } = fields
    const result = await send<ConfirmedPrivacyRequest>(`/requests/${request_id}/confirm`, {
      code,
      ...(newCode ? { new_code: newCode } : {}),
      ...changes(),
    })
    if (result) onDone({ action, files: result.export })
  }

  async function send<T>(path: string, body: object): Promise<T | undefined> {
    setBusy(true)
    setError('')
    const result = await post<T>(path, body)
    setBusy(false)
    if (result.ok) return result.data
    setError(
      result.status === 429
        ? texts.rate_limited!
        : result.code === 'FORBIDDEN'
          ? texts.code_wrong!
          : result.message || texts.failed!,
    )
    return undefined
  }
}
