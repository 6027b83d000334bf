import { useState } from 'preact/hooks'
import type { ProofFile, SessionItems, VerificationSession } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import { formatDatesIn } from '../ui/month-dates.ts'
import { ItemFiles, MAX_FILES } from './item-files.tsx'
import { NotAssessableNotice } from './not-assessable-notice.tsx'
import {
  isFileOf,
  type SessionCall,
  type SessionChange,
  type SourceItem,
  sourceItems,
  storedItemKeys,
} from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { errorText, type StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onDone: (change: Partial<VerificationSession>) => void
  /** Called when files were added or deleted. */
  onChange: (change: SessionChange) => void
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
  /** Undefined for an assessment, and with a server before an upgrade, which accepts no files. */
  const proofFiles: ProofFile[] | undefined = session.verificationMethod === 'human' ? session.proofFiles : undefined

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
                        {item.subtitle && (
                          <span class="soft small hint">{formatDatesIn(item.subtitle, pageTexts.locale)}</span>
                        )}
                      </span>
                    </label>
                    {renderFiles(item, (file) => isFileOf(item, file))}
                  </div>
                ))}
              </div>
            </fieldset>
          )
        )
      })}
      {renderFiles(undefined, (file) => !items.some((item) => isFileOf(item, file)))}
    </StepFrame>
  )

  /** Files of an item that is not chosen can only be deleted: they count towards the maximum. */
  function renderFiles(item: SourceItem | undefined, isIncluded: (file: ProofFile) => boolean) {
    if (!proofFiles) return null
    const files = proofFiles.filter(isIncluded)
    const chosenItem = item && chosen.has(keyOf(item)) ? item : undefined
    const isFull = proofFiles.length >= MAX_FILES
    if (!chosenItem && files.length === 0) return null
    return <ItemFiles {...{ files, item: chosenItem, isFull, token, call, pageTexts, onChange }} />
  }

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
