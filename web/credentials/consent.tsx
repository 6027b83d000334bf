import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiResult, call } from '../api.ts'
import { paths } from '../paths.ts'

/** The credentials that a person can get or has, from the API of the candidate's or the student's page. */
export interface CredentialOffer {
  enabled: boolean
  /** What the person decided; null before. */
  wanted: boolean | null
  showName: boolean
  /** Names of verified skills. */
  eligible: string[]
  /** Names of skills without an outcome yet. */
  pending: string[]
  credentials: { id: string; url: string; skillName: string; status: 'active' | 'expired' | 'revoked' }[]
  /** The secret link to the page that manages the credentials; only in the response to a decision. */
  manageUrl: string | null
}

export interface CredentialDecision {
  wanted: boolean
  showName: boolean
}

interface Props {
  language: string
  load: () => Promise<ApiResult<CredentialOffer>>
  decide: (decision: CredentialDecision) => Promise<ApiResult<CredentialOffer>>
}

type Texts = Record<string, string>

/** Whether the page is in a frame. There, links open a new tab, and the page that manages the credentials offers to email the secret link. */
const isFramed = window.parent !== window

/**
 * Offers credentials for the verified skills, and shows them once they exist. Shows nothing if there is no offer or it cannot be
 * loaded, because the page is complete without it.
 */
export function CredentialConsent({ language, load, decide }: Props) {
  const [offer, setOffer] = useState<CredentialOffer>()
  const [texts, setTexts] = useState<Texts>()
  const [loadedCount, setLoadedCount] = useState(0)
  const [showName, setShowName] = useState(false)
  const [isHidden, setIsHidden] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const [message, setMessage] = useState('')
  const [busy, setBusy] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    void load().then((result) => {
      if (result.ok) setOffer(result.data)
      setLoadedCount((count) => count + 1)
    })
  }, [])
  useEffect(() => {
    void call<Texts>(paths.credentialTexts(language)).then((result) => {
      if (result.ok) setTexts(result.data)
      setLoadedCount((count) => count + 1)
    })
  }, [language])

  if (loadedCount < 2) return <p class="unloaded" /> // hides what follows, which would move
  if (!offer?.enabled || !texts || isHidden) return null
  if (offer.eligible.length + offer.pending.length + offer.credentials.length === 0) return null
  const skills = [...offer.eligible, ...offer.pending]
  const active = offer.credentials.filter(({ status }) => status === 'active')
  return (
    <section class="card stack-tight" lang={language} aria-labelledby="credentials-title">
      <h2 id="credentials-title" tabIndex={-1} ref={heading}>
        {active.length > 0 ? texts.consent_done : texts.consent_title}
      </h2>
      <div aria-live="polite">{message && <p class="notice">{message}</p>}</div>
      {offer.wanted ? renderCredentials(offer, texts) : renderQuestion(texts)}
    </section>
  )

  function renderQuestion(t: Texts) {
    return (
      <>
        <p>{t.consent_text}</p>
        <p class="soft">
          {t.consent_skills}: <span dir="auto">{skills.join(', ')}</span>
        </p>
        <label class="inline-check">
          <input type="checkbox" checked={showName} onChange={(event) => setShowName(event.currentTarget.checked)} />
          {t.consent_name}
        </label>
        <div class="row">
          <button type="button" class="primary" disabled={busy} onClick={() => void send({ wanted: true, showName })}>
            {t.consent_yes}
          </button>
          <button type="button" onClick={() => setIsHidden(true)}>
            {t.consent_no}
          </button>
        </div>
      </>
    )
  }

  function renderCredentials({ credentials, pending, manageUrl }: CredentialOffer, t: Texts) {
    return (
      <>
        <ul class="credential-links">
          {credentials.map(({ id, url, skillName, status }) => (
            <li key={id}>
              <a href={url} dir="auto">
                {skillName}
              </a>
              <span class={status === 'active' ? 'good-text' : 'soft'}>
                {t[`state_${status === 'active' ? 'valid' : status}`]}
              </span>
            </li>
          ))}
        </ul>
        {pending.length > 0 && <p class="soft">{t.consent_waiting}</p>}
        <div class="row">
          {manageUrl ? (
            <a class="button primary" href={manageUrl}>
              {t.consent_manage}
            </a>
          ) : isFramed ? (
            <a class="button" href="/my-credentials">
              {t.consent_manage}
            </a>
          ) : (
            <button type="button" disabled={busy} onClick={() => void openManagePage()}>
              {t.consent_manage}
            </button>
          )}
          {!isAsking && (
            <button type="button" class="plain" onClick={() => setIsAsking(true)}>
              {t.consent_withdraw}
            </button>
          )}
        </div>
        {manageUrl && <p class="small soft">{t.consent_manage_note}</p>}
        {isAsking && (
          <div class="notice bad stack-tight" role="alertdialog" aria-label={t.consent_withdraw_sure}>
            <p>{t.consent_withdraw_sure}</p>
            <div class="row">
              <button type="button" disabled={busy} onClick={() => void send({ wanted: false, showName: false })}>
                {t.yes}
              </button>
              <button type="button" onClick={() => setIsAsking(false)}>
                {t.cancel}
              </button>
            </div>
          </div>
        )}
      </>
    )
  }

  async function send(decision: CredentialDecision) {
    setBusy(true)
    setMessage('')
    const result = await decide(decision)
    setBusy(false)
    setIsAsking(false)
    if (!result.ok) return setMessage(result.message || texts!.failed!)
    setOffer(result.data)
    if (!decision.wanted) setMessage(texts!.consent_withdrawn!)
    heading.current?.focus()
  }

  /** Opens the manage page with a new secret link: earlier ones are not stored and cannot be shown again. */
  async function openManagePage() {
    setBusy(true)
    const result = await decide({ wanted: true, showName: offer!.showName })
    setBusy(false)
    if (result.ok && result.data.manageUrl) location.assign(result.data.manageUrl)
    else setMessage(texts!.failed!)
  }
}
