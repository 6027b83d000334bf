import { useEffect, useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { type Roster, readRoster } from './roster.ts'
import { readTextFile } from './text-file.ts'

interface Props {
  onRoster: (roster: Roster) => void
  onType: () => void
}

const EXAMPLE = 'name,phone,your id,city\nAsha Rao,+919990000001,c-101,Pune\nRavi Kumar,98123 45678,c-102,Nashik'

/** Input of candidates, which the user can paste, drop or select as a file, or type. */
export function RosterInput({ onRoster, onType }: Props) {
  const [draggingOver, setDraggingOver] = useState(false)
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  useEffect(() => {
    // Without this, a file dropped outside of the field would replace the page.
    const prevent = (event: Event) => event.preventDefault()
    addEventListener('dragover', prevent)
    addEventListener('drop', prevent)
    return () => {
      removeEventListener('dragover', prevent)
      removeEventListener('drop', prevent)
    }
  }, [])
  return (
    <section
      class={`card stack drop ${draggingOver ? 'dragging-over' : ''}`}
      aria-label={t('Candidates')}
      onDragOver={(event) => {
        event.preventDefault()
        setDraggingOver(true)
      }}
      onDragLeave={({ currentTarget, relatedTarget }) =>
        setDraggingOver(currentTarget.contains(relatedTarget as Node | null))
      }
      onDrop={(event) => {
        event.preventDefault()
        setDraggingOver(false)
        const [file] = event.dataTransfer?.files ?? []
        if (file) void readFile(file)
        else read(event.dataTransfer?.getData('text') ?? '')
      }}
    >
      <h2>{t('Candidates')}</h2>
      <label for="paste">{t('Paste rows from a spreadsheet, or drop a CSV file here')}</label>
      <textarea
        id="paste"
        class="paste"
        placeholder={EXAMPLE}
        value={text}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? ''
          if (!pasted.includes('\n')) return
          event.preventDefault()
          read(pasted)
        }}
      />
      <div class="row">
        <button type="button" class="primary" disabled={!text.trim()} onClick={() => read(text)}>
          {t('Preview rows')}
        </button>
        <label class="button file">
          {t('Choose file')}
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? []
              if (file) void readFile(file)
              currentTarget.value = '' // allows the same file to be selected again after it was corrected
            }}
          />
        </label>
        <button type="button" class="plain" onClick={onType}>
          {t('Enter manually')}
        </button>
      </div>
      {error && <Notice kind="bad">{error}</Notice>}
      <p class="soft small">
        {t(
          'The first line names the columns: name, phone, email, your id, language. Other columns are stored with the result.',
        )}
      </p>
    </section>
  )

  async function readFile(file: File) {
    const fileText = await readTextFile(file)
    if (fileText === undefined)
      setError(
        t('{name} is not a text file. Save it as CSV in your spreadsheet program, and choose that file.', {
          name: file.name,
        }),
      )
    else read(fileText)
  }

  function read(input: string) {
    const roster = readRoster(input)
    if (roster.rows.length > 0) onRoster(roster)
    else setError(t('No candidates found. Enter one line per candidate, below a line with the column names.'))
  }
}
