import { Fault } from '../shared/field-error.tsx'
import { METHODS, methodOrder } from '../shared/labels.ts'
import type { Method } from '../shared/records.ts'

interface Props {
  chosen: Method[]
  hint: string
  fault: string | undefined
  onChange: (methods: Method[]) => void
}

export function MethodChoice({ chosen, hint, fault, onChange }: Props) {
  return (
    <fieldset class="card stack-tight">
      <legend class="card-legend">What is asked, in this order</legend>
      {methodOrder.map((method) => (
        <label class="check" key={method}>
          <input
            type="checkbox"
            checked={chosen.includes(method)}
            onChange={() => onChange(methodOrder.filter((each) => toggled(chosen, method).includes(each)))}
          />
          <span>
            {METHODS[method].name} <span class="soft">– {METHODS[method].about}</span>
          </span>
        </label>
      ))}
      <p class="soft small">{hint}</p>
      <Fault text={fault} />
    </fieldset>
  )
}

export function toggled<T>(list: T[], item: T): T[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item]
}
