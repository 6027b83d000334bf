import { useRef, useState } from 'preact/hooks'
import { call } from '../api.ts'
import { formatDate } from '../credentials/format-date.ts'
import { paths } from '../paths.ts'

type Texts = Record<string, string>

/** The response of the check. The route accepts any credential, so that it is not part of the described APIs. */
interface CredentialCheck {
  verdict: keyof typeof VERDICTS
  is_local: boolean
  test: boolean
  steps: { name: string; status: keyof typeof STEP_CLASSES; message: string }[]
  credential: {
    id: string | null
    name: string | null
    issuer_id: string | null
    issuer_domain: string | null
    issuer_name: string | null
    achievement: { name: string | null } | null
    subject_name: string | null
    valid_from: string | null
    valid_until: string | null
  } | null
}

/** The server rejects larger credentials. */
const MAX_BYTES = 256 * 1024

/** Text and colour of each verdict. */
const VERDICTS = {
  valid: { text: 'verify_valid', class: 'valid' },
  invalid: { text: 'check_invalid', class: 'invalid' },
  revoked: { text: 'check_revoked', class: 'revoked' },
  expired: { text: 'check_expired', class: 'expired' },
  not_yet_valid: { text: 'check_not_yet', class: 'not_yet' },
  unknown: { text: 'verify_unknown', class: 'incomplete' },
} as const

const STEP_CLASSES = { passed: 'passed', failed: 'failed', skipped: 'open' } as const

/** The page on which anyone can check a credential of any issuer. The server resolves the issuer, because browsers may not. */
export function CheckPage({ texts }: { texts: Texts }) {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<CredentialCheck>()
  const [dragging, setDragging] = useState(false)
  const outcome = useRef<HTMLElement>(null)
  return (
    <>
      <h1>{texts.verify_title}</h1>
      <p class="soft">{texts.verify_note}</p>
      <form
        class={`card stack ${dragging ? 'dragging' : ''}`}
        onSubmit={(event) => {
          event.preventDefault()
          void check(text)
        }}
        onDragOver={(event) => {
          event.preventDefault()
          setDragging(true)
        }}
        onDragLeave={() => setDragging(false)}
        onDrop={(event) => {
          event.preventDefault()
          setDragging(false)
          void readFile(event.dataTransfer?.files[0])
        }}
      >
        <label>
          {texts.verify_label}
          <textarea
            rows={6}
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label>
          {texts.verify_file}
          <input
            type="file"
            accept=".json,.jwt,.jsonld,.txt,.png,.svg,image/png,image/svg+xml,application/json,application/ld+json,application/vc,application/vc+jwt"
            onChange={(event) => void readFile(event.currentTarget.files?.[0])}
          />
        </label>
        <button class={`primary ${busy ? 'busy' : ''}`} type="submit">
          {texts.verify_title}
        </button>
        <div aria-live="polite">{error && <p class="notice bad">{error}</p>}</div>
      </form>
      <section aria-live="polite" ref={outcome} tabIndex={-1}>
        {result && <Outcome result={result} texts={texts} />}
      </section>
    </>
  )

  async function readFile(file: File | undefined) {
    if (!file) return
    setResult(undefined)
    if (file.size > MAX_BYTES) return setError(texts.verify_too_large!)
    const isPicture = await startsLikePng(file)
    setText(isPicture ? '' : await file.text())
    await check(isPicture ? file : await file.text())
  }

  /** Checks a text, or a picture, which is sent as it is. */
  async function check(input: string | File) {
    if (busy) return
    setResult(undefined)
    if (typeof input === 'string') {
      if (input.trim() === '') return setError(texts.verify_empty!)
      if (new Blob([input]).size > MAX_BYTES) return setError(texts.verify_too_large!)
    }
    setError('')
    setBusy(true)
    const response = await call<CredentialCheck>(paths.checkCredential, {
      ...(typeof input === 'string' ? { body: { credential: input } } : { file: input }),
      timeoutMs: 45_000,
    })
    setBusy(false)
    if (response.ok) {
      setResult(response.data)
      setTimeout(() => outcome.current?.focus())
    } else if (response.status === 0) setError(texts.offline!)
    else setError(response.status === 429 ? texts.rate_limited! : response.message || texts.failed!)
  }
}

async function startsLikePng(file: File): Promise<boolean> {
  const bytes = new Uint8Array(await file.slice(0, 4).arrayBuffer())
  return String.fromCharCode(...bytes.slice(1)) === 'PNG'
}

function Outcome({ result, texts }: { result: CredentialCheck; texts: Texts }) {
  const { verdict, is_local: isLocal, test: isTest, steps, credential } = result
  const { text, class: verdictClass } = VERDICTS[verdict]
  return (
    <div class="card stack-tight">
      {isTest && <p class="notice bad">{texts.test_banner}</p>}
      <p class={`verdict ${verdictClass}`}>{texts[text]}</p>
      {isLocal && <p>{texts.verify_local}</p>}
      {credential && !credential.issuer_domain && <p class="notice bad">{texts.verify_unproven}</p>}
      {credential && (
        <>
          <h2 dir="auto">{credential.achievement?.name ?? credential.name ?? credential.id}</h2>
          <dl class="facts">
            <Fact name={texts.issued_to} value={credential.subject_name} />
            {/* Anyone can choose any name; only the domain or the ID is proven. */}
            <Fact name={texts.issued_by} value={credential.issuer_domain ?? credential.issuer_id} />
            {credential.issuer_domain && <Fact name={texts.verify_issuer_id} value={credential.issuer_id} />}
            <Fact name={texts.verify_issuer_name} value={credential.issuer_name} />
            <Fact name={texts.issued_on} value={formatValidDate(credential.valid_from)} />
            <Fact name={texts.valid_until} value={formatValidDate(credential.valid_until)} />
          </dl>
        </>
      )}
      {/* The server's messages are in English. */}
      <ol class="steps" lang="en">
        {steps.map(({ name, status, message }) => (
          <li key={name} class={STEP_CLASSES[status]}>
            <strong>{name}</strong>
            <span>{message}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}

function Fact({ name, value }: { name: string | undefined; value: string | null }) {
  if (!value) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{value}</dd>
    </div>
  )
}

function formatValidDate(time: string | null): string | null {
  return time === null || Number.isNaN(Date.parse(time)) ? null : formatDate(time)
}
