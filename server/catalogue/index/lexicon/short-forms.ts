/**
 * Short forms with what they stand for, and what advertisements say with what catalogues call it. A phrase that holds
 * the left side is also read with the right side in its place; in a text the left side is a mention of a skill that is called
 * the right side.
 */
const FORMS = `
ai | artificial intelligence
api | application programming interface
apis | application programming interface
aws | cloud
azure | cloud
b2b | business to business
b2c | business to consumer
backend | back end
bi | business intelligence
bms | building management system
bpo | business process outsourcing
cad | computer aided design
cctv | closed circuit television
ci | continuous integration
ci cd | continuous integration
cms | content management system
cnc | computer numerical control
cpr | cardiopulmonary resuscitation
crm | customer relationship management
css3 | css
cv | computer vision
db | database
dbs | database
ecommerce | e commerce
ehs | environment health safety
erp | enterprise resource planning
es6 | javascript
etl | extract transform load
excel | spreadsheets
frontend | front end
gcp | cloud
gdpr | data protection
git | version control
gis | geographic information systems
golang | go
gst | goods and services tax
hr | human resource
hse | health safety environment
html5 | html
hvac | heating ventilation air conditioning
iot | internet of things
jira | issue tracking
js | javascript
k8s | kubernetes
kanban | agile
kpi | key performance indicators
kpis | key performance indicators
lifecycle | life cycle
ml | machine learning
ms | microsoft
ms sql | sql server
mssql | sql server
nlp | natural language processing
nodejs | node js
oop | object oriented programming
os | operating systems
pc | computer
plc | programmable logic controller
pm | project management
pos | point of sale
postgres | postgresql
powerpoint | presentation software
ppc | pay per click
ppt | presentation software
qa | quality assurance
qc | quality control
r and d | research and development
rdbms | relational database
react js | react
reactjs | react
rest | web services
restful | web services
sdlc | software development life cycle
sem | search engine marketing
seo | search engine optimisation
sop | standard operating procedure
tdd | test driven development
ts | typescript
ui | user interface
unit testing | software testing
ux | user experience
vcs | version control
vuejs | vue
word | word processing
abstract thinking | think abstractly
accountability | accept own accountability
accountable | take responsibility
accurate | attend to detail
adaptability | adapt to change
adaptable | adapt to change
ambitious | show determination
analytical mindset | think analytically
analytical skills | think analytically
analytical thinking | think analytically
analytical | think analytically
attention to detail | attend to detail
autonomous | work independently
autonomously | work independently
backend development | web programming
bookkeeping | accounting
budgeting | manage budgets
can do attitude | positive attitude
careful | attend to detail
coaching | coach employees
code reviews | code review
coding | computer programming
cold calls | telemarketing
collaborative | work in teams
committed | show commitment
communicative | communication
computer literate | computer literacy
computer skills | computer literacy
confident | show confidence
confidentiality | respect confidentiality obligations
conflict resolution | conflict management
creative thinking | think creatively
creative | think creatively
creativity | think creatively
critical thinking | think critically
cross functional | work in teams
curious | show curiosity
customer focus | customer service
customer oriented | customer service
customer service skills | customer service
deadlines | meet deadlines
decision making | make decisions
decisive | make decisions
dedicated | show commitment
detail oriented | attend to detail
determined | show determination
diplomatic | show diplomacy
discreet | observe confidentiality
driven | show determination
driving licence | drive vehicles
driving license | drive vehicles
eager to learn | willingness to learn
eagerness to learn | willingness to learn
efficient | work efficiently
emotional intelligence | have emotional intelligence
empathetic | show empathy
empathy | show empathy
energetic | show determination
enthusiastic | show determination
entrepreneurial | show entrepreneurial spirit
fast learner | learn quickly
flexibility | adapt to change
flexible | adapt to change
foreign languages | speak different languages
frontend development | web programming
good listener | listen actively
hard working | show determination
hardworking | show determination
holistic | think holistically
honest | demonstrate trustworthiness
honesty | demonstrate trustworthiness
independent | work independently
initiative | show initiative
innovative | think innovatively
inquisitive | demonstrate curiosity
intercultural | show intercultural awareness
international environment | work in an international environment
it skills | computer literacy
leadership skills | lead others
leadership | lead others
line management | manage staff
linux | operating systems
listening skills | listen actively
logical thinking | think analytically
loyal | demonstrate loyalty
mentoring | mentor individuals
meticulous | attend to detail
motivated | show determination
multi tasking | perform multiple tasks
multitask | perform multiple tasks
multitasking | perform multiple tasks
negotiation skills | negotiate
new business | identify new business opportunities
nosql | database
onboarding | introduce new employees
open mind | keep an open mind
open minded | show open mindedness
open mindedness | keep an open mind
open to feedback | accept criticism and guidance
organisation skills | work in an organised manner
organisational skills | work in an organised manner
organised | work in an organised manner
organization skills | work in an organised manner
organizational skills | work in an organised manner
organized | work in an organised manner
passionate | show determination
patience | exercise patience
pen testing | security testing
penetration testing | security testing
people management | manage staff
people | others
persistent | show determination
precise | attend to detail
presentation skills | give presentations
proactive | think proactively
problem solver | solve problems
problem solving | solve problems
programming languages | computer programming
programming | computer programming
public presentations | conduct public presentations
public speaking | speak in public
quick learner | learn quickly
quick thinking | think quickly
reliability | act reliably
reliable | act reliably
reporting | write reports
resilient | cope with stress
responsible | take responsibility
result oriented | meet targets
results driven | meet targets
results oriented | meet targets
sales pitch | deliver a sales pitch
self confident | show confidence
self driven | work independently
self motivated | show determination
self starter | show initiative
sense of responsibility | assume responsibility
service minded | customer service
shift work | work in shifts
shifts | work in shifts
solution oriented | create solutions to problems
stakeholder management | manage relationships with stakeholders
stock taking | inventory
stocktaking | inventory
strategic mindset | strategic thinking
stress resistant | tolerate stress
structured | work in an organised manner
supplier management | manage suppliers
take ownership | assume responsibility
team oriented | work in teams
team player | work in teams
team spirit | work in teams
team work skills | work in teams
team work | work in teams
team working | work in teams
teams | work in teams
teamwork skills | work in teams
teamwork | work in teams
thorough | attend to detail
time management | manage time
training | train employees
trustworthy | demonstrate trustworthiness
under pressure | cope with stress
unix | operating systems
up to date | keep up with trends
upselling | upsell products
ux design | user experience
vendor management | manage suppliers
web developer | web programming
web development | web programming
willing to learn | willingness to learn
work alone | work independently
`

export const shortForms: ReadonlyMap<string, string> = new Map(
  FORMS.trim()
    .split('\n')
    .map((line) => line.split(' | ') as [string, string]),
)
