-- Expressions that have a value on every row; one to a line.
i + 1L
i - b
b * 2
i % 4
-i + b
i / 2
b / 0.5
i / 3.0
x / 2
m + 1
m * m
m / 3
m / coalesce(nullif(b, 0), 1)
m % 7
m - i
m * 1.5
m + x
b div 7
-7 div 2
-7 % 3
pmod(-7, 3)
pmod(i, 5)
mod(b, 10)
i + '5'
n * 2
n / 4
'2' || i
abs(b)
abs(x)
abs(m)
-x
-m
~0
i & 6
i | 8
i ^ 3
i = 7
i <> 7
i < b
x > 1
x = x
x <=> cast(null as double)
i == '7'
n = 42
s < 'b'
d > '2000-01-01'
t >= '1970-01-01 00:00:00'
d < t
p and i > 0
p or i > 0
not p
p and null
p or null
i in (7, 0)
i in (7, null)
s not in ('', 'x')
i between -7 and 0
x between 0 and 10
i is null
p is true
p is not false
s is not null
case when i > 0 then 'pos' when i < 0 then 'neg' end
case i when 7 then 1.5 when 0 then 2 else 0 end
case when p then i else x end
if(p, i, b)
if(i > 0, 'a', null)
coalesce(p, false)
coalesce(i, x, 1)
nvl(s, 'none')
ifnull(n, '-')
nvl2(i, 1, 2)
nullif(i, 7)
greatest(i, 3, null)
least(x, 1.5)
isnull(p)
isnotnull(s)
isnan(x)
cast(i as string)
cast(b as string)
cast(x as string)
cast(f as string)
cast(m as string)
cast(p as string)
cast(t as string)
cast(d as string)
cast(a as string)
cast(w as string)
cast(n as int)
cast(n as bigint)
cast(n as double)
cast(' 12 ' as int)
cast('1e3' as double)
cast('-Infinity' as double)
cast('1.5' as decimal(5,2))
cast(2.555 as decimal(5,2))
cast(-2.7D as int)
cast(m as int)
cast(m as double)
cast(p as int)
cast('yes' as boolean)
cast(i as boolean)
cast(t as bigint)
cast(t as double)
cast(t as date)
cast(d as timestamp)
cast(i as timestamp)
cast(1.5D as timestamp)
cast('2024-02-29 12:34:56.789' as timestamp)
cast('2024-02-29T12:34:56Z' as timestamp)
cast('2024-2-9' as date)
cast('2024-02-29 10:00:00+02:30' as timestamp)
cast(' 2024 ' as date)
try_cast(s as int)
try_cast(s as double)
try_cast(s as date)
try_cast(b as int)
try_cast('2024-02-30' as date)
cast(i as float)
cast(x as float)
f + 1
f * 2.0D
f * f
lower(s)
upper(s)
initcap(s)
length(s)
char_length(s)
octet_length(s)
trim(s)
ltrim(s)
rtrim(s)
btrim(s)
trim(both 'H' from s)
trim(leading ' ' from s)
substr(s, 2, 3)
substring(s, -5, 3)
substring(s, 0, 2)
substring(s, 3)
substring('abc', -5, 3)
left(s, 3)
right(s, 3)
concat(s, '-', i)
concat(a, a)
concat_ws('|', s, w, null, 'z')
replace(s, 'l', 'L')
replace(s, 'l')
regexp_replace(s, '[aeiou]', '#')
regexp_replace(s, '(\\w)(\\w)', '$2$1')
regexp_extract(s, '(\\w+) (\\w+)', 2)
regexp_extract(s, '([a-z]+)')
regexp_extract_all(s, '(l+)', 1)
regexp_count(s, 'l')
regexp_like(s, '^H')
s rlike 'W[a-z]+'
s like '%World%'
s like '_ello%'
s ilike '%HELLO'
s not like '%x%'
'50%' like '50\%'
instr(s, 'l')
locate('l', s)
locate('l', s, 5)
position('o', s)
lpad(s, 5, '*')
rpad(s, 20, 'ab')
lpad(n, 4)
startswith(s, 'He')
endswith(s, 'lo')
contains(s, ' ')
reverse(s)
reverse(a)
repeat(n, 2)
space(2)
translate(s, 'lo', 'L')
substring_index(s, '.', 2)
substring_index(s, ',', -1)
split(s, ',')
split(s, '[, ]+')
split(s, ',', 2)
split(s, '')
split(s, '\\.')
split(lower(s), ' ')
split_part(s, ',', 2)
split_part(s, '.', -1)
ascii(s)
chr(65)
levenshtein(s, n)
base64(cast(s as binary))
parse_url(url, 'HOST')
parse_url(url, 'PATH')
parse_url(url, 'QUERY')
parse_url(url, 'QUERY', 'y')
parse_url(url, 'PROTOCOL')
parse_url(url, 'REF')
parse_url(url, 'FILE')
parse_url(url, 'AUTHORITY')
parse_url(url, 'USERINFO')
get_json_object(j, '$.user.id')
get_json_object(j, '$.user.tags')
get_json_object(j, '$.user.tags[1]')
get_json_object(j, '$.ok')
get_json_object(j, '$.none')
get_json_object(j, '$[0]')
get_json_object(j, '$')
json_array_length(j)
round(x)
round(x, 1)
round(m, 1)
round(m, -1)
round(i % 1000, -1)
round(2.5)
round(-2.5)
round(0.15D, 1)
round(1234.5678D, -2)
bround(2.5)
floor(x / 1e22)
ceil(b / 7)
floor(cast('NaN' as double))
ceil(m)
floor(m)
floor(i)
ceil(-0.5D)
sqrt(i)
cbrt(27.0D)
exp(1)
ln(i)
log(i)
log(2, 8)
log10(b)
log2(8)
log1p(x)
pow(i, 2)
power(2, 0.5)
sign(i)
sign(x)
signum(m)
hypot(3, 4)
degrees(pi())
try_divide(i, 0)
try_add(i, 1)
try_multiply(b, b)
shiftleft(b, 3)
shiftright(b, 3)
bin(i)
hex(i)
hex(s)
width_bucket(x, 0, 10, 5)
crc32(s)
md5(s)
sha1(s)
sha2(s, 256)
sha2(s, 0)
size(a)
size(split(s, ' '))
cardinality(w)
array(1, i, 2L)
array(1, 2.5, null)
array(s, n)[0]
get(a, 1)
get(a, 10)
try_element_at(a, 2)
try_element_at(a, -1)
size(a) > 0 and a[0] >= 0
array_contains(a, 3)
array_contains(a, 99)
array_contains(w, 'a')
array_distinct(a)
array_max(a)
array_min(w)
array_position(a, 3)
array_remove(a, 3)
array_append(a, 9)
array_prepend(a, null)
array_compact(a)
array_union(a, array(3, 8))
array_intersect(a, array(3, 4))
array_except(a, array(3))
arrays_overlap(a, array(3, 9))
array_join(w, ',')
array_join(w, ',', '?')
sort_array(a)
sort_array(a, false)
array_sort(a)
slice(a, 1, 2)
slice(a, -2, 2)
flatten(array(a, a))
sequence(1, 5)
sequence(5, 1, -2)
transform(a, e -> e + 1)
transform(a, (e, k) -> e * k)
transform(w, e -> concat(e, s))
filter(a, e -> e > 1)
filter(w, e -> length(e) > 0)
exists(a, e -> e > 4)
forall(a, e -> e > 0)
aggregate(a, 0, (acc, e) -> acc + coalesce(e, 0))
aggregate(a, 0L, (acc, e) -> acc + coalesce(e, 0), acc -> acc * 2)
named_struct('k', i, 'v', s).v
transform(w, e -> named_struct('q', e)).q
date_trunc('HOUR', t)
date_trunc('week', t)
date_trunc('month', t)
date_trunc('quarter', d)
date_trunc('second', t)
trunc(d, 'MM')
year(t)
quarter(d)
month(t)
day(t)
dayofweek(d)
weekday(d)
dayofyear(t)
weekofyear(d)
hour(t)
minute(t)
second(t)
extract(hour from t)
extract(second from t)
date_part('year', t)
unix_timestamp(t)
unix_seconds(t)
unix_millis(t)
unix_micros(t)
timestamp_seconds(i)
timestamp_millis(b div 1000000)
timestamp_micros(b)
timestamp_seconds(1.5)
to_timestamp('2024-02-29 01:02:03')
to_date('2024-02-29')
to_date(t)
date_format(t, 'yyyy-MM-dd HH:mm:ss.SSS')
date_format(t, "EEE, d MMM yyyy h:mm a")
date_format(d, 'yyyyMMdd')
date_add(d, 30)
date_sub(d, 1)
datediff(d, '2000-01-01')
add_months(d, 1)
last_day(d)
d + 1
d - 1
t + interval 90 minutes
t - interval '1' day
unix_date(d)
timestamp '2020-01-01 00:00:00'
date '2020-01-01'
1.50
1e-3
100L
12345678901
0.5D
'it''s'
"say ""hi"""
"it''s"
s like 'a!%' escape '!'
s not rlike 'H'
s like '%\tan%'
s like '%.%' or s like '%,'
'a' 'b'
'tab\there'
r'\d'
x'1F2E'
null
true
`i`
I
get_json_object('{"a": 1.50, "b": 1e3}', '$.b')
get_json_object('{"a":1} x', '$.a')
get_json_object('{"a":1, "a":2}', '$.a')
get_json_object('{"a": ["\\u00e9\\n"]}', '$.a')
get_json_object('{"a.b":1}', "$['a.b']")
get_json_object('null', '$')
get_json_object('NaN', '$')
parse_url('http://h/p?a=1&b=2&a=3', 'QUERY', 'a')
parse_url('http://h/#', 'REF')
parse_url('http://[::1]:80/', 'HOST')
parse_url('http://h_x/p', 'HOST')
parse_url('h/p', 'PATH')
try_parse_url('http://h/a b', 'PATH')
date_format(timestamp'2024-01-05 00:07:09.012', "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
date_format(timestamp'2024-01-05 12:07:09.012', "hh 'o''clock' a")
from_unixtime(i, 'yyyy')
'1' = 1.0
array(1, null) = array(1, null)
null and false
null = null
1 in (null)
concat_ws(',')
nullif('1', 1)
split('a|b', '|')
split('abc', '')
split('aXbXX', 'X', 0)
split('aXbXX', 'X', -1)
split(s, '\\s*')
split(s, '\\b')
regexp_replace(s, '\\b', '|')
regexp_replace(s, '[\\p{Punct}]', '')
initcap('ΑΣ hello-world o\'neil')
1 / 3.00
cast(m * m as decimal(38,2))
-2147483648
-9223372036854775808
9223372036854775808
bigint(3.7)
2S + 3Y
shiftleft(1, 33)
1 << 3
pmod(-7.5, 3)
date'2024-01-31' + interval 1 day
date'2024-01-31' + interval 1 hour
timestamp'2024-01-31' - timestamp'2024-01-01' = interval 30 days
cast('2024-01-05 1' as timestamp)
cast('2024-01-05T01:02:03 Europe/Paris' as timestamp)
cast('2024-01-05 01:02:03GMT+1' as date)
try_cast('2024-01-05T' as timestamp)
date_trunc('nonsense', t)
position('l' in s)
array_repeat(s, 2)
log(0)
pow(0, -1)
exp(1000)
'a\nb' rlike 'a.b'
'a\nb' like 'a%b'
round(1e200D, 2)
try_cast(1e200D as decimal(20,5))
try_cast('1_0' as decimal(5,1))
