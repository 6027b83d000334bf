import { type Dispatch, type StateUpdater, useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'

/** Drafts with personal data of candidates are deleted with the tab; others stay in the browser. */
type DraftStorage = 'browser' | 'tab'

const PREFIX = 'attestry console draft '

function storageOf(kind: DraftStorage): Storage | undefined {
  try {
    return kind === 'tab' ? sessionStorage : localStorage
  } catch {
    return undefined // unavailable in some private windows; the form works without drafts
  }
}

function readValue<T>(kind: DraftStorage, name: string): T | undefined {
  try {
    const text = storageOf(kind)?.getItem(PREFIX + name)
    return text ? (JSON.parse(text) as T) : undefined
  } catch {
    return undefined
  }
}

/** Deletes all drafts, for the next person who uses the browser. */
export function deleteAllDrafts(): void {
  for (const kind of ['browser', 'tab'] as const) {
    const storage = storageOf(kind)
    for (const key of Object.keys(storage ?? {})) if (key.startsWith(PREFIX)) storage!.removeItem(key)
  }
}

export interface FormDraft<T> {
  value: T
  setValue: Dispatch<StateUpdater<T>>
  /** Whether the value comes from an earlier visit of the page. */
  isRestored: boolean
  /** Deletes the draft and starts from the initial value. */
  discard: () => void
  /** Deletes the draft after it was saved on the server. */
  complete: () => void
}

/** Keeps the input of a form when the user leaves the page, until it is saved. `name` identifies the form and its record. */
export function useFormDraft<T>(name: string, initialValue: T, kind: DraftStorage = 'browser'): FormDraft<T> {
  const [stored] = useState(() => readValue<T>(kind, name))
  const [value, setValue] = useState<T>(stored ?? initialValue)
  const [isRestored, setIsRestored] = useState(stored !== undefined)
  const isCompleted = useRef(false)
  const initialText = useRef(JSON.stringify(initialValue))
  useEffect(() => {
    if (isCompleted.current) return
    const text = JSON.stringify(value)
    try {
      if (text === undefined || text === initialText.current) storageOf(kind)?.removeItem(PREFIX + name)
      else storageOf(kind)?.setItem(PREFIX + name, text)
    } catch {} // the list is too large for the storage
  }, [value])
  return {
    value,
    setValue,
    isRestored,
    discard() {
      setValue(initialValue)
      setIsRestored(false)
    },
    complete() {
      isCompleted.current = true
      storageOf(kind)?.removeItem(PREFIX + name)
    },
  }
}

/** Says that a form shows the input of an earlier visit, and offers to discard it. */
export function DraftNotice({ draft }: { draft: Pick<FormDraft<unknown>, 'isRestored' | 'discard'> }) {
  if (!draft.isRestored) return null
  return (
    <Notice kind="wait">
      {t('This is your unsaved draft from an earlier visit.')}{' '}
      <button type="button" class="plain flush" onClick={draft.discard}>
        {t('Discard draft')}
      </button>
    </Notice>
  )
}
