import { useState } from 'preact/hooks'
import type { SessionItems, VerificationSession } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import { ItemFiles } from './item-files.tsx'
import { NotAssessableNotice } from './not-assessable-notice.tsx'
import { type SessionCall, type SourceItem, sourceItems, storedItemKeys } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { errorText, type StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onDone: (change: Partial<VerificationSession>) => void
  /** Called when files were added or deleted. */
  onChange: (change: Partial<VerificationSession>) => void
  onBack: () => void
}

const ITEM_KINDS = ['workExperienceIds', 'projectIds', 'credentialIds'] as const

export function ItemsStep({ session, token, call, pageTexts, onDone, onChange, onBack }: Props) {
  const items = sourceItems(session)
  const [chosen, setChosen] = useState<Set<string>>(() => {
    const stored = storedItemKeys(session)
    return stored.size === 0 && items.length === 1 ? new Set([keyOf(items[0]!)]) : stored
  })
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()

  return (
    <StepFrame
      title={pageTexts.itemsTitle}
      hint={pageTexts.itemsHint}
      pageTexts={pageTexts}
      error={error}
      busy={busy}
      next={pageTexts.next}
      canContinue={chosen.size > 0}
      onNext={store}
      onBack={onBack}
    >
      <NotAssessableNotice session={session} pageTexts={pageTexts} />
      {ITEM_KINDS.map((kind) => {
        const itemsOfKind = items.filter((item) => item.kind === kind)
        return (
          itemsOfKind.length > 0 && (
            <fieldset key={kind} class="stack-tight">
              <legend>{pageTexts.kinds[kind]}</legend>
              <div class="choices">
                {itemsOfKind.map((item) => (
                  <div key={item.id}>
                    <label class="choice tall">
                      <input type="checkbox" checked={chosen.has(keyOf(item))} onChange={() => toggle(item)} />
                      <span>
                        <strong>{item.title}</strong>
                        {item.subtitle && <span class="soft small hint">{item.subtitle}</span>}
                      </span>
                    </label>
                    {session.verificationMethod === 'human' && chosen.has(keyOf(item)) && (
                      <ItemFiles {...{ session, item, token, call, pageTexts, onChange }} />
                    )}
                  </div>
                ))}
              </div>
            </fieldset>
          )
        )
      })}
    </StepFrame>
  )

  function toggle(item: SourceItem) {
    const nextChosen = new Set(chosen)
    if (!nextChosen.delete(keyOf(item))) nextChosen.add(keyOf(item))
    setChosen(nextChosen)
    setError(undefined)
  }

  async function store() {
    setBusy(true)
    setError(undefined)
    const idsOfKind = (kind: SourceItem['kind']) =>
      items.filter((item) => item.kind === kind && chosen.has(keyOf(item))).map((item) => item.id)
    const result = await call<SessionItems>(paths.storeItems, {
      body: {
        sessionToken: token,
        projectIds: idsOfKind('projectIds'),
        workExperienceIds: idsOfKind('workExperienceIds'),
        credentialIds: idsOfKind('credentialIds'),
      },
    })
    setBusy(false)
    if (result.ok) onDone({ stored: result.data.stored })
    else setError(errorText(pageTexts, result))
  }
}

function keyOf({ kind, id }: SourceItem) {
  return `${kind} ${id}`
}
