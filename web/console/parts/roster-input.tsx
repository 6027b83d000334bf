import { useState } from 'preact/hooks'

interface Props {
  onText: (text: string) => void
  onType: () => void
}

const EXAMPLE = `name,phone,your id,city
Asha Rao,+919990000001,c-101,Pune
Ravi Kumar,98123 45678,c-102,Nashik`

/** Takes people in: pasted, dropped, chosen as a file, or typed. */
export function RosterInput({ onText, onType }: Props) {
  const [over, setOver] = useState(false)
  const [text, setText] = useState('')
  return (
    <section
      class={`card stack drop ${over ? 'over' : ''}`}
      aria-label="Candidates"
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const [file] = event.dataTransfer?.files ?? []
        if (file) void file.text().then(onText)
        else onText(event.dataTransfer?.getData('text') ?? '')
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
          onText(pasted)
        }}
      />
      <div class="row">
        <button type="button" class="primary" disabled={!text.trim()} onClick={() => onText(text)}>
          Read the rows
        </button>
        <label class="button file">
          Choose a file
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => void event.currentTarget.files?.[0]?.text().then(onText)}
          />
        </label>
        <button type="button" class="plain" onClick={onType}>
          Type them instead
        </button>
      </div>
      <p class="soft small">
        Columns are taken for what their first line says: name, phone, mail, your id, language. Everything else is kept
        with the result.
      </p>
    </section>
  )
}
