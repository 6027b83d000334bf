import { useState } from 'preact/hooks'
import { readDraft, saveDraft } from '../../drafts.ts'
import { t } from '../../translations/translate.ts'

const STORAGE_NAME = 'console hidden result columns'
/** IDs of the columns that are hidden unless the user chooses them, so that the table fits on a small laptop. */
const HIDDEN_BY_DEFAULT = ['Interest', 'Channel']

/** Returns the IDs of the columns that the user has hidden, and a setter that stores them. */
export function useHiddenColumns(): [string[], (ids: string[]) => void] {
  const [hidden, setHidden] = useState(() => readDraft<string[]>(STORAGE_NAME) ?? HIDDEN_BY_DEFAULT)
  return [
    hidden,
    (ids) => {
      setHidden(ids)
      saveDraft(STORAGE_NAME, ids)
    },
  ]
}

interface Props {
  columns: { id: string; name: string }[]
  /** IDs of the hidden columns. */
  hidden: string[]
  onChange: (hidden: string[]) => void
}

/** Chooses the columns of a table. */
export function ColumnChoice({ columns, hidden, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details class="column-choice small" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{t('Columns')}</summary>
      {isOpen && (
        <fieldset class="card" aria-label={t('Columns')}>
          {columns.map(({ id, name }) => (
            <label key={id} class="check">
              <input
                type="checkbox"
                checked={!hidden.includes(id)}
                onChange={(event) =>
                  onChange(event.currentTarget.checked ? hidden.filter((each) => each !== id) : [...hidden, id])
                }
              />
              {name}
            </label>
          ))}
        </fieldset>
      )}
    </details>
  )
}
