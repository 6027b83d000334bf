import { useState } from 'preact/hooks'
import { readDraft, saveDraft } from '../../drafts.ts'
import { t } from '../../translations/translate.ts'

const STORAGE_NAME = t('console hidden result columns')
/** Hidden unless the user chooses them, so that the table fits on a small laptop. */
const HIDDEN_BY_DEFAULT = ['Interest', 'Channel']

/** Returns the names of the columns that the user has hidden, and a setter that stores them. */
export function useHiddenColumns(): [string[], (names: string[]) => void] {
  const [hidden, setHidden] = useState(() => readDraft<string[]>(STORAGE_NAME) ?? HIDDEN_BY_DEFAULT)
  return [
    hidden,
    (names) => {
      setHidden(names)
      saveDraft(STORAGE_NAME, names)
    },
  ]
}

interface Props {
  names: string[]
  hidden: string[]
  onChange: (hidden: string[]) => void
}

/** Chooses the columns of a table. */
export function ColumnChoice({ names, hidden, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details class="column-choice small" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{t('Columns')}</summary>
      {isOpen && (
        <fieldset class="card" aria-label={t('Columns')}>
          {names.map((name) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={!hidden.includes(name)}
                onChange={(event) =>
                  onChange(event.currentTarget.checked ? hidden.filter((each) => each !== name) : [...hidden, name])
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
