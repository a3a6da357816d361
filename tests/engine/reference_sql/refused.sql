-- Expressions that ANSI mode refuses on at least one row; one to a line.
i + 1
b * 9007199254740993
i / 0
x / 0.0D
i % 0
b div 0
cast(s as int)
cast('1.5' as int)
cast('x' as boolean)
cast('2024-02-30' as date)
cast(x as int)
cast(b as int)
cast(m as decimal(4,2))
round(i, -1)
-cast(-2147483648 as int)
abs(cast(-2147483648 as int))
a[10]
element_at(a, 10)
element_at(w, 0)
array(1)[1]
parse_url('a b://c', 'HOST')
regexp_extract(s, '(a)', 2)
s + 1
i = 'x'
sequence(1, 5, -1)
floor(x)
ceil(f)
cast(cast('NaN' as double) as int)
cast('NaN' as decimal(5,1))
element_at(a, 0)
split_part(s, ',', 0)
regexp_replace(s, 'a', 'b', 0)
make_date(2024, 2, 30)
to_date('soon')
unix_timestamp('2024-01-01')
regexp_replace(s, '[a-z]', '$')
regexp_replace(s, '([a-z])', '$2')
parse_url('http://h/%zz', 'PATH')
