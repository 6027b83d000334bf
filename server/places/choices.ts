export interface Choice {
  value: string
  label: string
}

export const shifts: Choice[] = [
  { value: 'day', label: 'Day shift' },
  { value: 'morning', label: 'Morning shift' },
  { value: 'afternoon', label: 'Afternoon shift' },
  { value: 'evening', label: 'Evening shift' },
  { value: 'night', label: 'Night shift' },
  { value: 'rotational', label: 'Rotational shifts' },
  { value: 'split', label: 'Split shift' },
  { value: 'flexible', label: 'Flexible hours' },
  { value: 'weekend', label: 'Weekends only' },
]

export const employmentTypes: Choice[] = [
  { value: 'full_time', label: 'Full time' },
  { value: 'part_time', label: 'Part time' },
  { value: 'contract', label: 'Contract' },
  { value: 'temporary', label: 'Temporary' },
  { value: 'daily_wage', label: 'Daily wage' },
  { value: 'piece_rate', label: 'Piece rate' },
  { value: 'gig', label: 'Gig' },
  { value: 'apprenticeship', label: 'Apprenticeship' },
  { value: 'internship', label: 'Internship' },
  { value: 'seasonal', label: 'Seasonal' },
]
