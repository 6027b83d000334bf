import { useState } from 'preact/hooks'
import type { RosterCheck } from './enrolling.ts'
import type { CandidateInput } from './records.ts'
import { MEANINGS, type Meaning, type Roster, type Row } from './roster.ts'

interface Props {
  roster: Roster
  candidates: CandidateInput[]
  check: RosterCheck
  onChange: (roster: Roster) => void
}

const PAGE = 50

/** Every row as it will be sent. What the API refuses stands in the row itself, open to be put right. */
export function RosterPreview({ roster, candidates, check, onChange }: Props) {
  const { names, meanings, rows } = roster
  const [onlyBad, setOnlyBad] = useState(false)
  const [shown, setShown] = useState(PAGE)
  const bad = check.faults.size
  const listed = rows.map((row, index) => ({ row, index })).filter(({ index }) => !onlyBad || check.faults.has(index))
  return (
    <section class="stack" aria-label="Preview">
      <div class="row between">
        <h2>
          {rows.length.toLocaleString()} {rows.length === 1 ? 'row' : 'rows'}
        </h2>
        <span class={bad > 0 ? 'bad-text' : 'soft'} role="status">
          {bad > 0
            ? `${bad} ${bad === 1 ? 'row' : 'rows'} to put right`
            : check.checking
              ? `Checking… ${check.checked.toLocaleString()} of ${rows.length.toLocaleString()}`
              : check.checked > 0 && !check.refusal
                ? 'Every row is right'
                : ''}
        </span>
      </div>
      {bad > 0 && (
        <div class="row">
          <label class="check">
            <input type="checkbox" checked={onlyBad} onChange={(event) => setOnlyBad(event.currentTarget.checked)} />
            Only rows to put right
          </label>
          <button type="button" class="small-button" onClick={leaveOut}>
            Leave {bad === 1 ? 'it' : `all ${bad}`} out
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
      <section class="table-wrap wide-table" tabIndex={0} aria-label="Rows">
        <table class="table plain-table">
          <caption class="hidden-text">Candidates to enrol</caption>
          <thead>
            <tr>
              <th scope="col">Row</th>
              {names.map((name, column) => (
                <th scope="col" key={column}>
                  <span class="soft">{name}</span>
                  <select
                    aria-label={`What “${name}” is`}
                    value={meanings[column]}
                    onChange={(event) => mean(column, event.currentTarget.value as Meaning)}
                  >
                    {(Object.keys(MEANINGS) as Meaning[]).map((meaning) => (
                      <option key={meaning} value={meaning}>
                        {MEANINGS[meaning]}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
              <th scope="col">
                <span class="hidden-text">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.slice(0, shown).map(({ row, index }) => (
              <PreviewRow
                key={row.number}
                row={row}
                index={index}
                names={names}
                meanings={meanings}
                sent={candidates[index]}
                faults={check.faults.get(index)}
                onCell={(column, value) => setCell(index, column, value)}
                onRemove={() => onChange({ ...roster, rows: rows.filter((_, at) => at !== index) })}
              />
            ))}
          </tbody>
        </table>
      </section>
      <div class="row">
        {listed.length > shown && (
          <button type="button" class="small-button" onClick={() => setShown(shown + PAGE)}>
            Show more of {listed.length.toLocaleString()}
          </button>
        )}
        <button type="button" class="small-button" onClick={addRow}>
          + Row
        </button>
      </div>
      {!meanings.includes('external_candidate_id') && (
        <p class="soft small">There is no column with your id: candidates are known by their phone or mail address.</p>
      )}
    </section>
  )

  function mean(column: number, meaning: Meaning) {
    const once = meaning !== 'metadata' && meaning !== 'nothing'
    onChange({
      ...roster,
      meanings: meanings.map((before, at) => {
        if (at === column) return meaning
        return once && before === meaning ? 'nothing' : before
      }),
    })
  }

  /** A row that was open for its fault stays open while it is being put right. */
  function setCell(index: number, column: number, value: string) {
    const next = rows.map((row, at) =>
      at === index
        ? { ...row, typed: true, cells: row.cells.map((cell, place) => (place === column ? value : cell)) }
        : row,
    )
    onChange({ ...roster, rows: next })
  }

  function addRow() {
    const number = Math.max(0, ...rows.map((row) => row.number)) + 1
    onChange({ ...roster, rows: [...rows, { number, cells: names.map(() => ''), typed: true }] })
    setShown(Math.max(shown, rows.length + 1))
    setOnlyBad(false)
  }

  function leaveOut() {
    onChange({ ...roster, rows: rows.filter((_, index) => !check.faults.has(index)) })
    setOnlyBad(false)
  }
}

interface RowProps {
  row: Row
  index: number
  names: string[]
  meanings: Meaning[]
  sent: CandidateInput | undefined
  faults: { field: string; message: string }[] | undefined
  onCell: (column: number, value: string) => void
  onRemove: () => void
}

function PreviewRow({ row, names, meanings, sent, faults, onCell, onRemove }: RowProps) {
  const open = row.typed === true || faults !== undefined
  const faultOf = (meaning: Meaning) =>
    faults?.filter(({ field }) => field === meaning || field.startsWith(`${meaning}.`))
  const elsewhere = faults?.filter(({ field }) => !meanings.some((meaning) => field.split('.')[0] === meaning))
  return (
    <tr class={faults ? 'bad-row' : ''}>
      <td class="soft">{row.number}</td>
      {row.cells.map((cell, column) => {
        const meaning = meanings[column]!
        const wrong = faultOf(meaning) ?? []
        return (
          <td key={column} class={meaning === 'nothing' ? 'left-out' : ''}>
            {open ? (
              <input
                type="text"
                aria-label={`${names[column]}, row ${row.number}`}
                aria-invalid={wrong.length > 0}
                value={cell}
                onInput={(event) => onCell(column, event.currentTarget.value)}
              />
            ) : (
              shownCell(meaning, cell, sent)
            )}
            {wrong.map(({ message }) => (
              <p class="fault small" key={message}>
                {message}
              </p>
            ))}
          </td>
        )
      })}
      <td>
        {elsewhere?.map(({ field, message }) => (
          <p class="fault small" key={field + message}>
            {field} {message}
          </p>
        ))}
        <button type="button" class="plain flush" aria-label={`Remove row ${row.number}`} onClick={onRemove}>
          ×
        </button>
      </td>
    </tr>
  )
}

/** As it is sent: a phone number with its country. */
function shownCell(meaning: Meaning, cell: string, sent: CandidateInput | undefined) {
  if (meaning === 'phone') return sent?.phone ?? cell
  return meaning === 'language' ? (sent?.language ?? cell) : cell
}
