import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { type Roster, readRoster } from './roster.ts'
import { readTextFile } from './text-file.ts'

interface Props {
  onRoster: (roster: Roster) => void
  onType: () => void
}

const EXAMPLE = `name,phone,your id,city
Asha Rao,+919990000001,c-101,Pune
Ravi Kumar,98123 45678,c-102,Nashik`

/** Takes people in: pasted, dropped, chosen as a file, or typed. */
export function RosterInput({ onRoster, onType }: Props) {
  const [over, setOver] = useState(false)
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState('')
  useEffect(() => {
    // A file that misses the field by a little would replace the whole page.
    const stay = (event: Event) => event.preventDefault()
    addEventListener('dragover', stay)
    addEventListener('drop', stay)
    return () => {
      removeEventListener('dragover', stay)
      removeEventListener('drop', stay)
    }
  }, [])
  return (
    <section
      class={`card stack drop ${over ? 'over' : ''}`}
      aria-label="Candidates"
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => setOver(currentTarget.contains(relatedTarget as Node | null))}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const [file] = event.dataTransfer?.files ?? []
        if (file) void readFile(file)
        else read(event.dataTransfer?.getData('text') ?? '')
      }}
    >
      <h2>Candidates</h2>
      <label for="paste">Paste rows out of a spreadsheet, or drop a CSV file here</label>
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
          Read the rows
        </button>
        <label class="button file">
          Choose a file
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? []
              if (file) void readFile(file)
              currentTarget.value = '' // the same file can be chosen again once it is put right
            }}
          />
        </label>
        <button type="button" class="plain" onClick={onType}>
          Type them instead
        </button>
      </div>
      {wrong && <Notice kind="bad">{wrong}</Notice>}
      <p class="soft small">
        Columns are taken for what their first line says: name, phone, mail, your id, language. Everything else is kept
        with the result.
      </p>
    </section>
  )

  async function readFile(file: File) {
    const found = await readTextFile(file)
    if (found === undefined) setWrong(`${file.name} is no text. In the spreadsheet, save it as CSV and take that file.`)
    else read(found)
  }

  function read(given: string) {
    const roster = readRoster(given)
    if (roster.rows.length > 0) onRoster(roster)
    else setWrong('There is nobody in it: one line for each candidate, below a line that names the columns.')
  }
}
