import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api.ts'
import type { HolderChange, HolderCredential, HolderView } from '../api-types/candidate.ts'
import { applyBrand } from '../branding/apply-brand.ts'
import { BrandFooter, replaceWordmark } from '../branding/brand.tsx'
import { formatDate } from '../credentials/format-date.ts'
import { paths } from '../paths.ts'

type Texts = Record<string, string>
type Change = (change: HolderChange) => void

const STATES = {
  active: { text: 'state_valid', class: 'good' },
  expired: { text: 'state_expired', class: 'wait' },
  revoked: { text: 'state_revoked', class: 'bad' },
} as const

/** The page on which a person manages their credentials. The token of the secret link is the only authentication. */
export function MyCredentials({ token, texts }: { token: string; texts: Texts }) {
  const [view, setView] = useState<HolderView>()
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const headers = { authorization: `Bearer ${token}` }
  useEffect(() => void load(), [])

  if (!view) {
    return error ? (
      <>
        <section class="card stack-tight" role="alert">
          <h1>{texts.mine_title}</h1>
          <p>{error}</p>
        </section>
        {error === texts.mine_unknown && <LinkRequest texts={texts} />}
      </>
    ) : (
      <h1 aria-busy="true">{texts.mine_title}</h1>
    )
  }
  const hasActive = view.credentials.some(({ status }) => status === 'active')
  return (
    <>
      <h1>{texts.mine_title}</h1>
      <p class="soft">{texts.mine_note}</p>
      <div aria-live="polite">{error && <p class="notice bad">{error}</p>}</div>
      <ul class="entries">
        {view.credentials.map((credential) => (
          <CredentialCard
            key={credential.credential_id}
            credential={credential}
            texts={texts}
            busy={busy}
            onChange={change}
          />
        ))}
      </ul>
      {hasActive && (
        <>
          <ProfileSettings view={view} texts={texts} busy={busy} onChange={change} />
          <NameSettings view={view} texts={texts} busy={busy} onChange={change} />
          <p>
            <button type="button" disabled={busy} onClick={() => void downloadRecord()}>
              {texts.mine_clr}
            </button>
          </p>
        </>
      )}
      <BrandFooter brand={view.brand} />
    </>
  )

  async function load() {
    if (!token) return setError(texts.mine_unknown!)
    await apply(call<HolderView>(paths.holder, { headers }))
  }

  function change(body: HolderChange) {
    if (busy) return
    setBusy(true)
    setError('')
    void apply(call<HolderView>(paths.holder, { method: 'PATCH', body, headers })).finally(() => setBusy(false))
  }

  async function apply(request: ReturnType<typeof call<HolderView>>) {
    const result = await request
    if (result.ok) {
      applyBrand(result.data.brand)
      replaceWordmark(result.data.brand)
      setView(result.data)
    } else setError(errorText(result.status))
  }

  async function downloadRecord() {
    setError('')
    try {
      const response = await fetch(paths.learnerRecord, { headers })
      if (!response.ok) return setError(errorText(response.status))
      const link = document.createElement('a')
      link.href = URL.createObjectURL(await response.blob())
      link.download = 'learner-record.jwt'
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
    } catch {
      setError(errorText(0))
    }
  }

  function errorText(status: number): string {
    if (status === 0) return texts.offline!
    if (status === 401) return texts.mine_unknown!
    return status === 429 ? texts.rate_limited! : texts.failed!
  }
}

/** The form with which a person who lost the link gets a new one by email. */
function LinkRequest({ texts }: { texts: Texts }) {
  const [email, setEmail] = useState('')
  const [message, setMessage] = useState<{ text: string; isError: boolean }>()
  const [busy, setBusy] = useState(false)
  return (
    <section class="card stack-tight" aria-labelledby="resend-title">
      <h2 id="resend-title">{texts.mine_resend_title}</h2>
      <p class="soft">{texts.mine_resend_note}</p>
      <form
        class="stack-tight"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <label>
          {texts.mine_resend_label}
          <input
            type="email"
            autocomplete="email"
            maxLength={254}
            value={email}
            onInput={(event) => setEmail(event.currentTarget.value)}
          />
        </label>
        <button class={`primary ${busy ? 'busy' : ''}`} type="submit">
          {texts.mine_resend_button}
        </button>
        <div aria-live="polite">
          {message && <p class={`notice ${message.isError ? 'bad' : ''}`}>{message.text}</p>}
        </div>
      </form>
    </section>
  )

  async function send() {
    if (busy) return
    setBusy(true)
    setMessage(undefined)
    const body = { email: email.trim(), language: document.documentElement.lang }
    const result = await call(paths.holderLinks, { body })
    setBusy(false)
    if (result.ok) setMessage({ text: texts.mine_resend_done!, isError: false })
    else setMessage({ text: errorText(result.status), isError: true })
  }

  function errorText(status: number): string {
    if (status === 0) return texts.offline!
    if (status === 400) return texts.mine_resend_invalid!
    return status === 429 ? texts.rate_limited! : texts.failed!
  }
}

interface SectionProps {
  texts: Texts
  busy: boolean
  onChange: Change
}

function CredentialCard({
  credential: { credential_id, url, skill, status, hidden, issued_at },
  texts,
  busy,
  onChange,
}: SectionProps & { credential: HolderCredential }) {
  const state = STATES[status]
  return (
    <li class="card stack-tight">
      <div class="row between">
        <h2 dir="auto">
          {/* The link of a withdrawn credential leads nowhere. */}
          {status === 'revoked' ? skill.name : <a href={url}>{skill.name}</a>}
        </h2>
        <span class={`badge ${state.class}`}>{texts[state.text]}</span>
      </div>
      <p class="small soft">
        {texts.issued_on}: {formatDate(issued_at)}
        {status === 'active' && hidden && ` · ${texts.state_hidden}`}
      </p>
      {status === 'active' && (
        <div class="row">
          <button
            type="button"
            disabled={busy}
            onClick={() => onChange({ credentials: [{ credential_id, hidden: !hidden }] })}
          >
            {hidden ? texts.mine_show : texts.mine_hide}
            <span class="hidden-text"> {skill.name}</span>
          </button>
          <ConfirmButton
            texts={texts}
            busy={busy}
            question={texts.mine_revoke_sure!}
            onConfirm={() => onChange({ credentials: [{ credential_id, revoke: true }] })}
          >
            {texts.mine_revoke}
            <span class="hidden-text"> {skill.name}</span>
          </ConfirmButton>
        </div>
      )}
    </li>
  )
}

function ProfileSettings({ view, texts, busy, onChange }: SectionProps & { view: HolderView }) {
  const [copied, setCopied] = useState(false)
  return (
    <section class="card stack-tight">
      <h2>{texts.mine_profile_title}</h2>
      <p class="soft">{texts.mine_profile_note}</p>
      {view.profile_url && (
        <p class="profile-link">
          <a href={view.profile_url}>{view.profile_url}</a>
        </p>
      )}
      <div class="row">
        <button
          type="button"
          class={view.profile_public ? '' : 'primary'}
          disabled={busy}
          onClick={() => onChange({ profile_public: !view.profile_public })}
        >
          {view.profile_public ? texts.mine_profile_off : texts.mine_profile_on}
        </button>
        {view.profile_url && (
          <>
            {navigator.clipboard && (
              <button type="button" onClick={() => void copy(view.profile_url!)}>
                {copied ? texts.copied : texts.copy_link}
              </button>
            )}
            <ConfirmButton
              texts={texts}
              busy={busy}
              question={texts.mine_new_link_sure!}
              onConfirm={() => onChange({ new_profile_link: true })}
            >
              {texts.mine_new_link}
            </ConfirmButton>
          </>
        )}
      </div>
    </section>
  )

  async function copy(url: string) {
    await navigator.clipboard.writeText(url)
    setCopied(true)
  }
}

function NameSettings({ view, texts, busy, onChange }: SectionProps & { view: HolderView }) {
  return (
    <section class="card stack-tight">
      <h2>{texts.mine_name_title}</h2>
      <p class="soft">{texts.mine_name_note}</p>
      <button type="button" disabled={busy} onClick={() => onChange({ show_name: !view.show_name })}>
        {view.show_name ? texts.mine_name_remove : texts.mine_name_show}
      </button>
    </section>
  )
}

interface ConfirmProps {
  texts: Texts
  busy: boolean
  question: string
  onConfirm: () => void
  children: ComponentChildren
}

/** A button that asks before it acts. */
function ConfirmButton({ texts, busy, question, onConfirm, children }: ConfirmProps) {
  const [asking, setAsking] = useState(false)
  if (!asking) {
    return (
      <button type="button" disabled={busy} onClick={() => setAsking(true)}>
        {children}
      </button>
    )
  }
  return (
    <div class="notice stack-tight" role="alertdialog" aria-label={question}>
      <p>{question}</p>
      <div class="row">
        <button
          type="button"
          disabled={busy}
          onClick={() => {
            setAsking(false)
            onConfirm()
          }}
        >
          {texts.yes}
        </button>
        {/* biome-ignore lint/a11y/noAutofocus: the question replaces the button that had the focus, and cancelling is safe */}
        <button type="button" autoFocus onClick={() => setAsking(false)}>
          {texts.cancel}
        </button>
      </div>
    </div>
  )
}
