/**
 * Words that say the same in the language of work, a line a group. Written for advertisements in general; what a
 * catalogue's own aliases teach is added to it (paraphrases.ts).
 */

const GROUPS = `
manage lead oversee supervise direct head coordinate administer run leadership management supervision
develop create build design make produce craft construct development creation
maintain service upkeep maintenance preserve
fix repair mend restore troubleshoot debug
collaborate cooperate liaise partner engage interact team collaboration cooperation teamwork
advise counsel consult guide recommend advice
train teach instruct educate coach mentor training tutor
check inspect examine audit verify test inspection testing
analyse evaluate assess investigate review study analysis assessment analytical research
improve optimise enhance increase boost improvement optimisation
reduce cut lower decrease minimise reduction
sell market promote sale sales
buy purchase procure source procurement
write draft document author
clean wash sanitise disinfect hygiene
drive operate driver
install fit assemble mount setup installation
estimate calculate compute quote calculation
plan schedule organise arrange
gather collect obtain
deliver distribute dispatch ship delivery distribution courier
hire recruit recruitment
salary wage pay payroll compensation remuneration
staff personnel employee worker people workforce team manpower
client customer guest buyer consumer
colleague coworker peer team teammate
problem issue challenge fault defect difficulty trouble
goal objective target
price cost rate
car vehicle automobile auto motor
truck lorry
computer pc ict it
software application app program programming coding
website web site page
photo picture image photograph
kid child infant baby toddler
elderly senior aged old
house home domestic household
shop store retail outlet
doctor physician surgeon medical surgery
law legal legislation regulation compliance
food meal dish
pig swine hog
cow cattle buffalo dairy
present communicate presentation communication explain communicator communicative
creative innovative innovation creativity original
independent independently autonomous independence autonomy
proactive proactively initiative
motivated determination enthusiastic enthusiasm motivation driven committed commitment dedicated
flexible adaptable adapt change flexibility
detail accuracy precision detailed accurate
stress pressure stressful
organised structured structure orderly
international global worldwide multinational
technical technological technology
engineering engineer
architect architecture architectural
numeracy numerate number mathematics mathematical maths
language linguistic
tool toolset equipment instrument
interface api ui
cloud azure aws gcp
fast quick rapid speed
monitor track watch control supervise
use operate utilise apply employ handle
implement execute perform carry conduct execution implementation deploy
support assist help aid
relationship relation
stakeholder partner
document file record documentation paper
security safety secure protection
quality excellence
science scientific
experiment experimental laboratory
electric electrical electricity electrician
mechanic mechanical machine machinery
animal livestock
health welfare wellbeing
publication paper article
budget financial finance
strategy strategic
campaign marketing advertise advertising advertisement
transport transportation logistics
warehouse storage godown
weld solder braze
paint coat
sew stitch tailor tailoring
cook prepare chef cooking
guard security watchman
nurse care nursing caregiver caretaker
beauty cosmetic makeup
plumbing pipe plumber
carpentry wood carpenter timber woodwork
mason masonry brick bricklaying
farm agriculture agricultural crop
phone telephone call
mail email letter
meeting conference
idea concept
method technique approach methodology
licence permit
automate automation automated automatic
risk hazard danger
money cash
invoice bill billing
account accounting bookkeeping accountant
goods product merchandise item stock inventory
contract agreement
negotiate bargain deal negotiation
data information
graph chart visualisation
error mistake bug
teach school lesson classroom
translate interpret translation interpretation
speak verbal spoken oral
text written writing
rule policy procedure
leader supervisor manager boss
trend development
knowledge expertise
vendor supplier provider contractor
happy satisfaction satisfied satisfy
parcel package packet shipment
dashboard visualisation chart
workload task assignment duty
colleague employee newcomer joiner
audience public
talk speech presentation lecture
onboard onboarding induction introduce
deal sale
priority prioritise
honest integrity trustworthy reliable reliability dependable trust
listen listening
medicine medication drug
illness disease
blueprint drawing schematic diagram
lift carry hoist
guest visitor
greet welcome
request demand enquiry inquiry
hygiene sanitation cleanliness
tax fiscal taxation
forecast predict projection prediction
revenue turnover income profit earnings
growth grow expand expansion
opportunity prospect lead
content copy article post blog
video film movie footage
edit modify retouch
code script source
bug error defect fault failure
requirement need specification
prototype mockup wireframe
deploy release rollout launch
agile scrum
statistics statistical quantitative
model modelling simulation simulate
motivate inspire encourage
delegate assign allocate
conflict dispute disagreement
solve resolve tackle address
curious curiosity eager inquisitive
confident confidence assertive
punctual timely punctuality
patient patience
polite courteous friendly courtesy
expense expenditure spending cost
route itinerary
student pupil learner
school education educational
record log
archive store
schedule timetable calendar
appointment booking reservation
complaint grievance
feedback opinion
chemical chemistry
biology biological
electronics electronic
renovate refurbish
environment environmental sustainability sustainable ecological
energy power electricity
waste garbage refuse trash
emergency crisis
therapy treatment therapeutic treat
diagnose diagnosis diagnostic
fitness sport exercise
insurance insure
bank banking
loan credit lending
invest investment investor
trade commerce commercial trading
property estate
rent lease rental
tourism tourist travel
hotel accommodation hospitality
restaurant catering
van vehicle lorry truck
multiple several various
quick prompt promptly
keen passionate passion enthusiastic
work working worker
`

export const wordGroups: readonly string[][] = GROUPS.trim()
  .split('\n')
  .map((line) => line.split(' '))

/** Small words that carry no meaning of their own. */
export const stopWords: ReadonlySet<string> = new Set(
  'a an the of in on for to and or with by at from as is are be your our their its you we into within such etc i my us this that these those'.split(
    ' ',
  ),
)

/** Words an advertisement wraps around a skill. */
export const praise: readonly string[] =
  'ability able good strong excellent great highly very solid proven experience experienced skill knowledge understanding mindset style workstyle enjoy passion passionate desire willingness interest year many existing overall continuous continuously beautiful outstanding deep depth advanced basic general effective efficient efficiently successful various different related relevant daily modern high large dynamic new own common key closely ensure fluent familiar familiarity proficient proficiency hands'.split(
    ' ',
  )

/** Words a catalogue rounds a name off with. */
export const roundings: readonly string[] =
  'process principle technique technology system operation method procedure activity tool practice standard service software management discipline work job task environment apply use perform conduct provide carry undertake'.split(
    ' ',
  )
